import type { Fault } from './fault.ts';
import { accessFaults } from './faults/access.ts';
import { agentFaults } from './faults/agents.ts';
import { inboxFaults } from './faults/inbox.ts';
import { streamFaults } from './faults/streams.ts';
import { tableFaults } from './faults/table.ts';
import { taskFaults } from './faults/tasks.ts';
import { webhookFaults } from './faults/webhooks.ts';

export const faults: readonly Fault[] = [
  ...tableFaults,
  ...streamFaults,
  ...webhookFaults,
  ...inboxFaults,
  ...taskFaults,
  ...agentFaults,
  ...accessFaults,
];
