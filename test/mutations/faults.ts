import type { Fault } from './fault.ts';
import { accessFaults } from './faults/access.ts';
import { accountFaults } from './faults/accounts.ts';
import { adversaryFaults } from './faults/adversary.ts';
import { agentFaults } from './faults/agents.ts';
import { agentAnswerFaults } from './faults/agents-answers.ts';
import { agentGuardFaults } from './faults/agents-guards.ts';
import { namedAgentFaults } from './faults/agents-named.ts';
import { archiveFaults } from './faults/archives.ts';
import { backupFaults } from './faults/backups.ts';
import { damageFaults } from './faults/damage.ts';
import { declarationFaults } from './faults/declarations.ts';
import { deliveryFaults } from './faults/deliveries.ts';
import { doorFaults } from './faults/doors.ts';
import { engineFaults } from './faults/engine.ts';
import { givenOutFaults } from './faults/given-out.ts';
import { guardFaults } from './faults/guards.ts';
import { inboxFaults } from './faults/inbox.ts';
import { networkFaults } from './faults/network.ts';
import { portalFaults } from './faults/portal.ts';
import { sandboxFaults } from './faults/sandbox.ts';
import { serverFaults } from './faults/server.ts';
import { serviceGuardFaults } from './faults/services-guards.ts';
import { streamFaults } from './faults/streams.ts';
import { tableFaults } from './faults/table.ts';
import { taskFaults } from './faults/tasks.ts';
import { vectorFaults } from './faults/vectors.ts';
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
  ...agentAnswerFaults,
  ...namedAgentFaults,
  ...sandboxFaults,
  ...damageFaults,
  ...declarationFaults,
  ...givenOutFaults,
  ...archiveFaults,
  ...vectorFaults,
  ...doorFaults,
  ...adversaryFaults,
];
