import fc from 'fast-check';
import { Actor } from './actor.ts';
import type { EngineKind } from './backend.ts';
import { checkAll, type Tally } from './check.ts';
import { type History, histories } from './commands.ts';
import { openFixture, type Sabotage } from './fixture.ts';
import { checkAtRest, type PublicCheck } from './stored.ts';

export type RunOptions = {
  histories: number;
  length: number;
  engine: EngineKind;
  seed?: number;
  sabotage?: Sabotage;
  // Shrinking takes many more runs; what only has to fail need not be small.
  endOnFailure?: boolean;
  onHistory?(): void;
};
export type RunResult = { seed: number; checks: number; mismatch?: string };

// Random histories, each step of which is checked for every user.
export async function runHistories(options: RunOptions): Promise<RunResult> {
  const tally = { checks: 0 };
  const property = fc.asyncProperty(histories(options.length), async history => {
    await runHistory(history, options, tally);
    options.onHistory?.();
  });
  const { seed, endOnFailure = false } = options;
  const details = await fc.check(property, {
    numRuns: options.histories,
    ...(seed !== undefined && { seed }),
    endOnFailure,
  });
  const mismatch = details.failed
    ? `${fc.defaultReportMessage(details)}\n${describe(details.errorInstance)}`
    : undefined;
  return { seed: details.seed, checks: tally.checks, mismatch };
}

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : String(error));

async function runHistory(history: History, { engine, sabotage }: RunOptions, tally: Tally): Promise<void> {
  const { policy, recipientsTogether, commands } = history;
  const fixture = await openFixture({ engine, policy, recipientsTogether, sabotage });
  try {
    const actor = new Actor(fixture, policy);
    const last: PublicCheck = { expected: {} };
    for (const command of commands) {
      await actor.run(command);
      if (command.do !== 'crash') await checkAll(fixture, actor, last, tally);
    }
    fixture.faults.disarm();
    await checkAtRest(fixture, actor);
  } finally {
    await fixture.close();
  }
}
