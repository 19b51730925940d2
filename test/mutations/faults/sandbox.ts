import type { Fault } from '../fault.ts';

// The deadlines of what customers wrote.

export const sandboxFaults: readonly Fault[] = [
  {
    name: 'sandbox-time-that-passes',
    file: 'packages/sandbox/src/thread.ts',
    before: 'const usedMs = isTold ? usedNowMs - usedBeforeMs : passedMs;',
    after: 'const usedMs = passedMs;',
    why: 'A script fails because the machine was busy',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts', name: 'not the time that passes' },
  },
  {
    name: 'sandbox-late-is-too-long',
    file: 'packages/sandbox/src/thread.ts',
    before: 'if (passedMs >= mostMs) return late;',
    after: 'if (passedMs >= mostMs) return tooLong;',
    why: 'A script for which there was no time is called too slow',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts', name: 'gives up a job' },
  },
  {
    name: 'sandbox-never-late',
    file: 'packages/sandbox/src/thread.ts',
    before: 'if (passedMs >= mostMs) return late;\n',
    after: '',
    why: 'A job that the machine has no time for is waited for without end',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts', name: 'gives up a job' },
  },
  {
    name: 'sandbox-not-told',
    file: 'packages/sandbox/src/thread.ts',
    before: '        Atomics.store(over, 0, 1);\n',
    after: '        Atomics.store(over, 0, 2);\n',
    why: 'A job does not learn that its time is over, and its thread ends with it',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts', name: 'tells a job' },
  },
  {
    name: 'sandbox-flag-stays',
    file: 'packages/sandbox/src/thread.ts',
    before: '    Atomics.store(over, 0, 0);\n',
    after: '',
    why: 'After one job that took too long, its thread ends every other at once',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts' },
  },
  {
    name: 'sandbox-keeps-hung-thread',
    file: 'packages/sandbox/src/thread.ts',
    before: 'if (Atomics.load(over, 0) === 1) return tooLong;',
    after: 'if (Atomics.load(over, 0) === 1) return limits.graceMs;',
    why: 'A job that does not heed the end of its time runs for ever',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts', name: 'ends a job that hangs' },
  },
  {
    name: 'sandbox-slow-start-crashed',
    file: 'packages/sandbox/src/thread.ts',
    before: 'expect(limits.startMs, () => late, { program: href })',
    after: 'expect(limits.startMs, () => crashed, { program: href })',
    why: 'A thread that starts slowly is the fault of the script',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts', name: 'calls a thread late' },
  },
  {
    name: 'sandbox-account-takes-all',
    file: 'packages/sandbox/src/sandbox.ts',
    before: '(runningOf.get(account) ?? 0) < most - 1',
    after: '(runningOf.get(account) ?? 0) < most',
    why: 'Jobs of one account that hang delay all others',
    caughtBy: { test: 'packages/sandbox/test/sandbox.test.ts' },
  },
];
