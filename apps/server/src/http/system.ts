import { endpoint, json, readsOnly, route } from '@stak/http';
import { type Clock, createTimedCache, type WorkerState } from '@stak/kit';
import { readStatus, type StreamSource, type Subscription, streamErrors } from '@stak/streams';
import type { CapacityEntry, Ledger, Store } from '@stak/table';
import { z } from 'zod';
import type { Caller } from '../store/explorer/operators.ts';

export type SystemDeps = {
  store: Store;
  clock: Clock;
  source: StreamSource;
  ledger: Ledger;
  workers(): readonly WorkerState[];
  subscriptions: readonly Pick<Subscription, 'name' | 'table'>[];
  isOperator(caller: Caller): boolean;
};

// Every open console asks, and a response that is a few seconds old is good enough: on AWS a shard may be read five
// times a second in total.
const freshMs = 3_000;

const units = { read_units: z.number(), write_units: z.number() };
const stream = z.strictObject({
  consumer: z.string(),
  table: z.string(),
  lag_ms: z
    .int()
    .nonnegative()
    .describe(
      'The age of the oldest change that it has not handled. 0 if there is none, or if a Lambda function handles it: then see CloudWatch.',
    ),
  caught_up: z.boolean().describe('All changes are handled.'),
  set_aside: z.boolean().describe('Some changes could not be handled and need an operator.'),
});
const capacity = z.strictObject({
  since: z.iso.datetime(),
  ...units,
  tables: z.array(z.strictObject({ table: z.string(), calls: z.int(), ...units })),
});

const status = route({
  ...readsOnly,
  path: '/v1/system/status',
  operationId: 'system.status',
  tenant: 'none',
  mcp: false,
  tags: ['system'],
  auth: 'session',
  scope: 'read',
  summary: 'Get the lag of stream consumers and the state of workers',
  description:
    'Lags are the same for all callers, and reveal nothing about others. Consumed capacity and dead letters are for operators; for other callers they are null.',
  responses: {
    200: json(
      z.strictObject({
        at: z.iso.datetime(),
        streams: z.array(stream),
        workers: z.strictObject({
          running: z.int(),
          waiting: z.array(z.string()).describe('Workers that failed and will be restarted.'),
        }),
        operator: z.strictObject({ capacity, dead_letters: z.int() }).nullable(),
      }),
    ),
  },
});

type Streams = { streams: z.output<typeof stream>[]; deadLetters: number };

export function systemEndpoints(deps: SystemDeps) {
  const startedAt = deps.clock.now();
  const latest = createTimedCache<Streams>({ clock: deps.clock, most: 1, forMs: freshMs });
  const readFresh = (): Promise<Streams> => latest.load('streams', () => readStreams(deps, deps.clock.now()));
  return [
    endpoint(status, async c => {
      const { streams, deadLetters } = await readFresh();
      const workers = deps.workers();
      const isOperator = deps.isOperator({ principal: c.get('principal'), request: c.env?.incoming });
      return c.json(
        {
          at: new Date(deps.clock.now()).toISOString(),
          streams,
          workers: {
            running: workers.filter(worker => worker.status === 'running').length,
            waiting: workers.filter(worker => worker.status === 'backing-off').map(worker => worker.name),
          },
          operator: isOperator
            ? { capacity: sumCapacity(deps.ledger.entries(), startedAt), dead_letters: deadLetters }
            : null,
        },
        200,
      );
    }),
  ] as const;
}

async function readStreams(deps: SystemDeps, at: number): Promise<Streams> {
  const all = await Promise.all(deps.subscriptions.map(subscription => readStream(deps, subscription, at)));
  const deadLetters = all.reduce((sum, stream) => sum + stream.deadLetters, 0);
  return { streams: all.map(one => one.stream), deadLetters };
}

async function readStream(
  deps: SystemDeps,
  { name, table }: SystemDeps['subscriptions'][number],
  at: number,
) {
  const status = await readStatus(deps, name).catch(error => {
    // It has not started yet: a moment after the first start.
    if (streamErrors.includes(error)) return undefined;
    throw error;
  });
  const waiting = status?.shards.flatMap(({ behind }) => behind?.oldestAt ?? []).map(Date.parse) ?? [];
  const lag_ms = waiting.length === 0 ? 0 : Math.max(0, at - Math.min(...waiting));
  const deadLetters = status?.deadLetters ?? 0;
  const set_aside = deadLetters > 0;
  const caught_up = status !== undefined && waiting.length === 0 && !set_aside;
  const stream = { consumer: name, table: table.name, lag_ms, caught_up, set_aside };
  return { stream, deadLetters };
}

type Sums = { calls: number; read_units: number; write_units: number };

export function sumCapacity(entries: readonly CapacityEntry[], since: number) {
  const tables = new Map<string, Sums>();
  for (const { table, calls, readUnits, writeUnits } of entries) {
    const sum = tables.get(table) ?? { calls: 0, read_units: 0, write_units: 0 };
    sum.calls += calls;
    sum.read_units += readUnits;
    sum.write_units += writeUnits;
    tables.set(table, sum);
  }
  const all = [...tables.values()];
  return {
    since: new Date(since).toISOString(),
    read_units: all.reduce((total, stream) => total + stream.read_units, 0),
    write_units: all.reduce((total, stream) => total + stream.write_units, 0),
    tables: [...tables]
      .map(([table, sum]) => ({ table, ...sum }))
      .toSorted((a, b) => (a.table < b.table ? -1 : 1)),
  };
}
