import { createEngine } from '../../src/index.ts';
import type { Answer, Request } from './peers.ts';

// A process with an engine of its own that does what it is asked, many things at once.

const [path] = process.argv.slice(2) as [string];
const engine = await createEngine({ path, sweepIntervalMs: 0, pollIntervalMs: 60_000 });
const answer = (message: Answer) => process.send!(message);

process.on('message', async ({ id, calls, waitFor }: Request) => {
  if (waitFor) {
    await engine.waitForChange(waitFor.target, undefined, waitFor.since);
    answer({ id, results: [] });
    return;
  }
  const results = calls!.map(({ operation, input }) =>
    engine.execute(operation, input).then(
      value => ({ value }),
      error => ({ error: (error as Error).name }),
    ),
  );
  answer({ id, results: await Promise.all(results) });
});
process.on('disconnect', () => engine.close());
answer({ id: 0, results: [{ value: { engine: engine.id } }] });
