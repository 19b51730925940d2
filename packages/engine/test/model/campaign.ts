import fc from 'fast-check';
import { expect } from 'vitest';
import { createEngine, type Engine } from '../../src/engine.ts';
import { compareCounts, compareIndexes, compareItems, compareLog } from './comparison.ts';
import { batchRequestOf, requestOf, tableName } from './requests.ts';
import { type Step, startMs, step } from './steps.ts';
import { createModel, type IndexModel, type Model, textOf, type Write } from './table-model.ts';

const indexes: IndexModel[] = [
  { name: 'by-group', hash: ['group'], range: ['rank'], attributes: ['shown', 'ttl'] },
  { name: 'by-kind', hash: ['kind'], range: [], attributes: [] },
  { name: 'by-several', hash: ['group', 'kind'], range: ['label', 'rank'], attributes: ['shown'] },
  { name: 'by-label', hash: ['pk'], range: ['label'], attributes: 'all' },
];

const definition = (name: string, type: string) => ({ AttributeName: name, AttributeType: type });
const keys = (hash: string[], range: string[] = []) => [
  ...hash.map(name => ({ AttributeName: name, KeyType: 'HASH' })),
  ...range.map(name => ({ AttributeName: name, KeyType: 'RANGE' })),
];

const createTable = {
  TableName: tableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    definition('pk', 'S'),
    definition('sk', 'N'),
    definition('group', 'S'),
    definition('rank', 'N'),
    definition('kind', 'N'),
    definition('label', 'S'),
  ],
  KeySchema: keys(['pk'], ['sk']),
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-group',
      KeySchema: keys(['group'], ['rank']),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['shown', 'ttl'] },
    },
    { IndexName: 'by-kind', KeySchema: keys(['kind']), Projection: { ProjectionType: 'KEYS_ONLY' } },
    {
      IndexName: 'by-several',
      KeySchema: keys(['group', 'kind'], ['label', 'rank']),
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['shown'] },
    },
  ],
  LocalSecondaryIndexes: [
    { IndexName: 'by-label', KeySchema: keys(['pk'], ['label']), Projection: { ProjectionType: 'ALL' } },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
};

type Run = {
  engine: Engine;
  model: Model;
  now: number;
  tokens: Map<string, { text: string; until: number }>;
};

// fast-check prints the seed and the shortest sequence of steps that goes wrong.
export async function runModel(options: { runs: number; steps: number; seed?: number }): Promise<void> {
  const { runs, steps, seed } = options;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: steps, size: 'max' }), runSteps),
    {
      numRuns: runs,
      ...(seed !== undefined && { seed }),
    },
  );
}

async function runSteps(steps: Step[]): Promise<void> {
  let now = startMs;
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0, clock: { now: () => now } });
  try {
    await engine.execute('CreateTable', createTable);
    await engine.execute('UpdateTimeToLive', {
      TableName: tableName,
      TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' },
    });
    await engine.settled();
    const { streamArn, shardId } = await findShard(engine);
    const run: Run = { engine, model: createModel(indexes), now, tokens: new Map() };
    for (const one of steps) {
      await take(run, one);
      now = run.now;
      await compareItems(engine, run.model);
      await compareIndexes(engine, run.model);
      await compareCounts(engine, run.model);
      await compareLog(engine, run.model, streamArn, shardId);
    }
  } finally {
    await engine.close();
  }
}

async function findShard(engine: Engine) {
  const { Table } = (await engine.execute('DescribeTable', { TableName: tableName })) as {
    Table: { LatestStreamArn: string };
  };
  const { StreamDescription } = (await engine.execute('DescribeStream', {
    StreamArn: Table.LatestStreamArn,
  })) as {
    StreamDescription: { Shards: { ShardId: string }[] };
  };
  return { streamArn: Table.LatestStreamArn, shardId: StreamDescription.Shards[0]!.ShardId };
}

async function take(run: Run, one: Step): Promise<void> {
  switch (one.kind) {
    case 'write':
      return writeOne(run, one.write);
    case 'together':
      await Promise.all(one.writes.map(write => writeOne(run, write)));
      return;
    case 'transact':
      return transact(run, one.writes, one.token);
    case 'batch':
      run.model.write(one.writes, run.now);
      await run.engine.execute('BatchWriteItem', {
        RequestItems: { [tableName]: one.writes.map(batchRequestOf) },
      });
      return;
    case 'rewrite': {
      const items = run.model.all();
      const item = items[one.nth % Math.max(1, items.length)];
      return item && writeOne(run, { kind: 'put', item: item as never });
    }
    case 'advance':
      run.now += one.ms;
      return;
    case 'sweep':
      expect(await run.engine.sweep()).toBe(run.model.sweep(run.now));
  }
}

// Work is done in the order in which it was submitted, so the model may go first.
async function writeOne({ engine, model, now }: Run, write: Write): Promise<void> {
  const key = write.kind === 'put' ? { pk: write.item.pk, sk: write.item.sk } : write.key;
  const before = model.find(key as never);
  const [allowed] = model.write([write], now);
  const after = model.find(key as never);
  const { kind, input } = requestOf(write);
  const wanted = kind === 'Update' ? 'ALL_NEW' : 'ALL_OLD';
  const answer = engine.execute(`${kind}Item`, {
    ...input,
    ReturnValues: wanted,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  if (!allowed) {
    const error = await answer.then(
      () => undefined,
      (reason: { name: string; Item?: never }) => reason,
    );
    expect(error?.name).toBe('ConditionalCheckFailedException');
    expect(error?.Item && textOf(error.Item)).toBe(before && textOf(before));
    return;
  }
  const { Attributes } = (await answer) as { Attributes?: never };
  const expected = wanted === 'ALL_NEW' ? after : before;
  expect(Attributes && textOf(Attributes)).toBe(expected && textOf(expected));
}

async function transact(run: Run, writes: Write[], token: string | undefined): Promise<void> {
  const items = writes.map(requestOf).map(({ kind, input }) => ({ [kind]: input }));
  const answer = run.engine.execute('TransactWriteItems', {
    TransactItems: items,
    ...(token && { ClientRequestToken: token }),
  });
  const known = token === undefined ? undefined : run.tokens.get(token);
  const text = JSON.stringify(items);
  if (known && known.until > run.now) {
    if (known.text === text) await answer;
    else await expect(answer).rejects.toMatchObject({ name: 'IdempotentParameterMismatchException' });
    return;
  }
  const verdicts = run.model.write(writes, run.now);
  if (verdicts.every(Boolean)) {
    await answer;
    if (token !== undefined) run.tokens.set(token, { text, until: run.now + 600_000 });
    return;
  }
  const codes = verdicts.map(verdict => ({ Code: verdict ? 'None' : 'ConditionalCheckFailed' }));
  await expect(answer).rejects.toMatchObject({
    name: 'TransactionCanceledException',
    CancellationReasons: codes,
  });
}
