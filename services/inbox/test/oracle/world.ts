import { createEngine, createHttpServer, type Engine } from '@stak/engine';
import { type Clock, createIds, createLogger, seededRandom } from '@stak/kit';
import { engineSource, type LambdaEvent, streamsTable, toLambda } from '@stak/streams';
import { createStore, createTables, type DynamoClient } from '@stak/table';
import { awsClient } from '@stak/table/aws';
import { createInbox, type Inbox, inboxTable } from '../../src/index.ts';
import { inboxConfig } from '../../src/table.ts';
import { type Input, withFaults } from './faults.ts';
import type { Policy } from './model.ts';

export type EngineKind = 'embedded' | 'sdk';
export type Sabotage = (input: Input) => Input;

export const place = { tenant_key: 'acme', inbox_key: 'main' };
export const silent = createLogger({ level: 'silent' });
const startMs = Date.UTC(2026, 0, 1);

export type World = Awaited<ReturnType<typeof openWorld>>;

type Settings = { engine: EngineKind; policy: Policy; recipientsTogether: number; sabotage?: Sabotage };

// An inbox in two processes, which share nothing but the table. Time moves only when told to.
export async function openWorld({ engine: kind, policy, recipientsTogether, sabotage }: Settings) {
  let nowMs = startMs;
  let sweptMs = startMs;
  const clock: Clock = { now: () => nowMs, sleep: () => new Promise(resolve => setImmediate(resolve)) };
  const engine = await createEngine({
    path: ':memory:',
    clock: { now: () => sweptMs },
    sweepIntervalMs: 0,
  });
  await createTables(engine, [inboxTable, streamsTable]);
  const { client, close } = await connect(engine, kind);
  const faults = withFaults(client, sabotage);
  const processes = [1, 2].map(seed => openProcess(faults.client, clock, seed, recipientsTogether));
  await createStore({ client }).put(inboxConfig, {
    ...place,
    title: 'Main',
    description: '',
    ttl: {},
    late_joiners: policy,
    unique_host_system_ids: true,
    uid: 'usr_1',
  });
  return {
    clock,
    engine,
    client,
    faults,
    processes: processes as [Inbox, Inbox],
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
    // Removes what had expired some seconds ago, and leaves the rest for later.
    async sweep(lagS: number) {
      sweptMs = Math.max(sweptMs, nowMs - lagS * 1000);
      await engine.sweep();
    },
    readRecords: recordReader(engine),
    close,
  };
}

function openProcess(client: DynamoClient, clock: Clock, seed: number, recipientsTogether: number): Inbox {
  const random = seededRandom(seed);
  return createInbox({
    store: createStore({ client, clock, random }),
    clock,
    random,
    ids: createIds({ clock, random: seededRandom(seed * 77) }),
    log: silent,
    recipientsTogether,
    enterTenant: async (_, tenant_id) => ({ tenant_id }),
  });
}

async function connect(engine: Engine, kind: EngineKind) {
  if (kind === 'embedded') return { client: engine.client, close: () => engine.close() };
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
  const close = async () => {
    client.close();
    await server.close();
    await engine.close();
  };
  return { client, close };
}

// All stream records since the last time.
function recordReader(engine: Engine) {
  const source = engineSource(engine);
  const last = new Map<string, string>();
  return async (): Promise<LambdaEvent['Records']> => {
    const { Streams = [] } = await source.listStreams({ TableName: inboxTable.name });
    const StreamArn = Streams[0]!.StreamArn!;
    const { StreamDescription } = await source.describeStream({ StreamArn });
    const found: LambdaEvent['Records'] = [];
    for (const { ShardId } of StreamDescription?.Shards ?? []) {
      const after = last.get(ShardId!);
      const { ShardIterator } = await source.getShardIterator({
        StreamArn,
        ShardId: ShardId!,
        ShardIteratorType: after === undefined ? 'TRIM_HORIZON' : 'AFTER_SEQUENCE_NUMBER',
        SequenceNumber: after,
      });
      for (let iterator: string | null | undefined = ShardIterator; iterator; ) {
        const { Records = [], NextShardIterator } = await source.getRecords({ ShardIterator: iterator });
        found.push(...Records);
        iterator = Records.length > 0 ? NextShardIterator : undefined;
      }
      const newest = found.at(-1)?.dynamodb?.SequenceNumber;
      if (newest) last.set(ShardId!, newest);
    }
    return found;
  };
}

export async function handleRecords(inbox: Inbox, records: LambdaEvent['Records']): Promise<void> {
  for (const subscription of inbox.subscriptions) {
    const handle = toLambda(subscription, { log: silent });
    for (const record of records) {
      // Lambda tries again as well: the first failure may be a crash.
      const isHandled = async () => (await handle({ Records: [record] })).batchItemFailures.length === 0;
      if (!(await isHandled()) && !(await isHandled())) throw new Error(`${subscription.name} failed`);
    }
  }
}
