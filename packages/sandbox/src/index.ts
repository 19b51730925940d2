export { createSandbox, type Sandbox, type SandboxSettings } from './sandbox.ts';
export { type FailureReason, type Job, type Message, programAt, type Reply } from './thread.ts';
