import fc from 'fast-check';
import { createEngine } from '../../src/engine.ts';
import { ask, type Call, canonical, dynoxideCall, engineCall } from './comparison.ts';
import { startDynoxide } from './dynoxide.ts';
import type { Json } from './fragments.ts';
import { createsByRemoving, explain } from './known-differences.ts';
import type { Request } from './request-values.ts';
import { requestsOn } from './requests.ts';
import { createTableInput, type TableKind, tableKinds } from './tables.ts';

export type Tally = { requests: number; accepted: number; explained: Map<string, number> };
type Pair = { ours: Call; theirs: Call; tally: Tally };

// The same requests, in the same order, to both; fast-check prints the seed and the shortest sequence of
// requests that they answer differently.
export async function runDifferential(options: {
  binary: string;
  runs: number;
  requests: number;
  seed?: number;
}): Promise<Tally> {
  const { binary, runs, requests, seed } = options;
  const dynoxide = await startDynoxide(binary);
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const tally: Tally = { requests: 0, accepted: 0, explained: new Map() };
  const pair: Pair = { ours: engineCall(engine), theirs: dynoxideCall(dynoxide), tally };
  let run = 0;
  // One sequence a table, side by side: they do not meet, and dynoxide is kept busy.
  const sequences = fc.tuple(
    ...tableKinds.map(kind => fc.array(requestsOn(kind), { maxLength: requests, size: 'max' })),
  );
  const property = fc.asyncProperty(sequences, async all => {
    run++;
    await Promise.all(
      all.map((sequence, i) => runSequence(pair, tableKinds[i]!, `run-${run}-${i}`, sequence)),
    );
  });
  try {
    await fc.assert(property, { numRuns: runs, ...(seed !== undefined && { seed }) });
    return tally;
  } finally {
    await engine.close();
    await dynoxide.stop();
  }
}

async function runSequence(
  { ours, theirs, tally }: Pair,
  kind: TableKind,
  table: string,
  sequence: Request[],
) {
  const definition = createTableInput(kind, table) as Json;
  await Promise.all([ours('CreateTable', definition), theirs('CreateTable', definition)]);
  for (const template of sequence) {
    const request = JSON.parse(JSON.stringify(template).replaceAll('"@"', JSON.stringify(table))) as Request;
    if (await createsByRemoving(ours, request)) continue;
    const [mine, other] = await Promise.all([ask(ours, request), ask(theirs, request)]);
    tally.requests++;
    if ('answer' in mine) tally.accepted++;
    if (canonical(mine) === canonical(other)) continue;
    const known = explain({ request, ours: mine, theirs: other });
    if (!known) throw new Error(describe(request, mine, other));
    tally.explained.set(known.fault, (tally.explained.get(known.fault) ?? 0) + 1);
    if (known.spoils && 'error' in mine !== 'error' in other) return;
  }
}

const describe = (request: Request, mine: object, other: object): string =>
  [
    `${request.operation} ${JSON.stringify(request.input)}`,
    `stak:     ${canonical(mine)}`,
    `dynoxide: ${canonical(other)}`,
  ].join('\n');
