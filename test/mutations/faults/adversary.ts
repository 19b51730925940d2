import type { Fault } from '../fault.ts';
import { agentFaults } from './agents.ts';
import { inboxFaults } from './inbox.ts';
import { streamFaults } from './streams.ts';
import { tableFaults } from './table.ts';
import { taskFaults } from './tasks.ts';
import { webhookFaults } from './webhooks.ts';

// What the adversary sees as well: whole servers in virtual time, each fault with a seed that shows it. A change of the
// product moves what happens in a seed; then another one is looked for.

const test = 'apps/server/test/adversary/adversary.test.ts';
const known = [
  ...webhookFaults,
  ...streamFaults,
  ...inboxFaults,
  ...taskFaults,
  ...agentFaults,
  ...tableFaults,
];

const seedsByFault: Record<string, number> = {
  'webhooks-claim-without-lease': 14,
  'webhooks-event-without-version': 97,
  'webhooks-results-dropped': 14,
  'agents-waiting-unchecked': 77,
  'agents-decided-twice': 77,
  'inbox-reads-counted-again': 139,
  'inbox-state-without-version': 25,
  'inbox-unread-not-subtracted': 25,
};

export const adversaryFaults: readonly Fault[] = Object.entries(seedsByFault).map(([name, seed]): Fault => {
  const { isShort: _, ...fault } = known.find(one => one.name === name)!;
  return { ...fault, name: `adversary-${name}`, caughtBy: { test, seeds: [seed, seed] } };
});
