import type { Contestant, ContestantModule } from './contestant.ts';
import type { Command, Reply } from './contestant-process.ts';
import { type Load, runClosedLoop } from './harness.ts';

// The child's side of `contestant-process.ts`: holds one contestant and runs the requested rounds.

let contestant: Contestant | undefined;

async function obey(command: Command): Promise<Reply> {
  switch (command.kind) {
    case 'start': {
      const module = (await import(command.module)) as ContestantModule<unknown>;
      contestant = await module.start(command.settings);
      return {};
    }
    case 'run':
      return { value: await run(contestant!, command.load) };
    case 'close':
      await contestant?.close();
      return {};
  }
}

async function run({ operations, prepare }: Contestant, load: Load) {
  const operation = operations[load.operation];
  if (!operation) throw new Error(`there is no operation ${load.operation}`);
  prepare?.(load.operation, load.durationMs);
  return runClosedLoop(operation, load);
}

process.on('message', (command: Command) => {
  obey(command)
    .catch((error: unknown) => ({
      error: error instanceof Error ? (error.stack ?? error.message) : `${error}`,
    }))
    .then(reply => process.send!(reply));
});

// The bench has ended, so end too, together with everything the contestant started.
process.on('disconnect', () => process.exit());
