import type { Fault } from './fault.ts';
import { accessFaults } from './faults/access.ts';
import { accountFaults } from './faults/accounts.ts';
import { agentFaults } from './faults/agents.ts';
import { agentGuardFaults } from './faults/agents-guards.ts';
import { backupFaults } from './faults/backups.ts';
import { deliveryFaults } from './faults/deliveries.ts';
import { engineFaults } from './faults/engine.ts';
import { guardFaults } from './faults/guards.ts';
import { inboxFaults } from './faults/inbox.ts';
import { networkFaults } from './faults/network.ts';
import { portalFaults } from './faults/portal.ts';
import { serverFaults } from './faults/server.ts';
import { serviceGuardFaults } from './faults/services-guards.ts';
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
  ...agentGuardFaults,
  ...guardFaults,
  ...accessFaults,
  ...accountFaults,
  ...portalFaults,
  ...serverFaults,
  ...backupFaults,
  ...deliveryFaults,
  ...engineFaults,
  ...networkFaults,
  ...serviceGuardFaults,
];
