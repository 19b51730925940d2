import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { EngineOptions, OlderHistory } from '@stak/engine';
import {
  type Clock,
  createIds,
  type Logger,
  type Owners,
  type Peers,
  storeOwners,
  systemClock,
  unknownOwners,
} from '@stak/kit';
import { engineSource, type StreamSource, sourceWithPrefix, streamsTable } from '@stak/streams';
import { type ControlPlane, controlWithPrefix, type DynamoClient, withPrefix } from '@stak/table';
import type { StoreConfig } from '../config/config.ts';
import { UsageError } from '../config/errors.ts';
import type { PausableStore } from './archive/move.ts';
import type { BackupStore } from './backup/backup-host.ts';

export type Database = {
  client: DynamoClient;
  control: ControlPlane;
  source: StreamSource;
  owners: Owners; // of leases: tells which of them are gone
  peers?: Peers; // other processes that have it open, if they can receive messages
  embedded?: BackupStore & PausableStore; // none on AWS
  settled(): Promise<void>; // resolves when new indexes are filled
  // Prefixes of other installations in this store, if none has the requested one.
  otherPrefixes(): Promise<readonly string[]>;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  clock?: Clock;
  isSecondary?: boolean; // for commands: creates no store, and does not remove expired items
  // Called with the partition that each call uses. The embedded store is then used as if over a network, to measure
  // costs.
  onUsage?: EngineOptions['onUsage'];
  isReader?: boolean; // an embedded store is opened read-only
  onError?(error: Error, work: string): void;
  // Moments of an embedded store before those that its folder has.
  olderHistory?: OlderHistory;
};

type OpenDatabase = Omit<Database, 'otherPrefixes'>;

// Opens the embedded engine or AWS. The code above it knows neither which one it is, nor the prefix of the tables.
export async function openDatabase(config: StoreConfig, options: DatabaseOptions = {}): Promise<Database> {
  const { prefix = '' } = config;
  const opened = await (config.kind === 'aws' ? openAws(config) : openEmbedded(config, options));
  const database: Database = {
    ...opened,
    client: withPrefix(opened.client, prefix),
    control: controlWithPrefix(opened.control, prefix),
    source: sourceWithPrefix(opened.source, prefix),
    otherPrefixes: () => findOtherPrefixes(opened.control, prefix),
  };
  if (config.kind === 'aws') return database;
  // A folder belongs to one installation. An endpoint may have several, each with its own prefix.
  const others = await database.otherPrefixes();
  if (others.length === 0) return database;
  await database.close();
  throw new UsageError(`${config.path}: ${explainPrefixes(others, prefix)}`);
}

export const explainPrefixes = (others: readonly string[], prefix: string): string =>
  `there are no tables with the prefix "${prefix}" here, but some with ${others.map(name => `"${name}"`).join(' and ')}; set STAK_TABLE_PREFIX to choose`;

// One account may have several installations; a forgotten prefix looks the same.
export async function noteOtherPrefixes(database: Database, prefix: string, log: Logger): Promise<void> {
  const others = await database.otherPrefixes().catch(() => []); // listing tables may not be allowed
  if (others.length > 0) log.warn({ prefix, others }, `making tables: ${explainPrefixes(others, prefix)}`);
}

// Every installation has this table, and no other table has a name that ends like it.
async function findOtherPrefixes(control: ControlPlane, prefix: string): Promise<string[]> {
  const others: string[] = [];
  let ExclusiveStartTableName: string | undefined;
  do {
    const page = (await control.execute('ListTables', {
      ...(ExclusiveStartTableName !== undefined && { ExclusiveStartTableName }),
    })) as { TableNames?: string[]; LastEvaluatedTableName?: string };
    for (const name of page.TableNames ?? [])
      if (name === prefix + streamsTable.name) return [];
      else if (name.endsWith(streamsTable.name)) others.push(name.slice(0, -streamsTable.name.length));
    ExclusiveStartTableName = page.LastEvaluatedTableName;
  } while (ExclusiveStartTableName !== undefined);
  return others;
}

type EmbeddedConfig = Extract<StoreConfig, { kind: 'embedded' }>;

async function openEmbedded(
  { path, history }: EmbeddedConfig,
  options: DatabaseOptions,
): Promise<OpenDatabase> {
  const { clock = systemClock, isSecondary = false, isReader = false, onError, onUsage } = options;
  const { olderHistory: older } = options;
  const { createEngine } = await import('@stak/engine');
  // It contains names, addresses and hashes: readable by its owner only.
  if (path !== ':memory:' && !isSecondary) await mkdir(resolve(path), { recursive: true, mode: 0o700 });
  const engine = await createEngine({
    path: path === ':memory:' ? path : resolve(path),
    clock,
    ...(isSecondary && { create: false, sweepIntervalMs: 0 }),
    ...(isReader && { readOnly: true }),
    ...(history && { history: history.keepMs > 0 && { ...history, ...(older && { older }) } }),
    ...(onError && { onError }),
    ...(onUsage && { onUsage }),
  });
  return {
    client: onUsage ? asRemote(engine.client, clock) : engine.client,
    control: engine,
    source: engineSource(engine),
    owners: storeOwners(createIds({ clock }), engine),
    ...(engine.id !== undefined && { peers: engine }),
    embedded: engine,
    settled: () => engine.settled(),
    close: () => engine.close(),
  };
}

const answerMs = 3; // of DynamoDB, for a server in the same region

// Takes as long as a store over a network, so that calls overlap as they do there.
function asRemote(client: DynamoClient, clock: Clock): DynamoClient {
  const slow = Object.entries(client).map(([operation, call]) => [
    operation,
    async (input: never) => {
      const answer = await (call as (input: never) => Promise<unknown>)(input);
      await clock.sleep(answerMs);
      return answer;
    },
  ]);
  return Object.assign(Object.fromEntries(slow) as DynamoClient, { mayLoseAnswers: true });
}

// Loaded late: the embedded server never loads the SDK.
async function openAws({ region, endpoint }: StoreConfig & { kind: 'aws' }): Promise<OpenDatabase> {
  const { awsClient } = await import('@stak/table/aws');
  const { awsSource } = await import('@stak/streams/aws');
  const options = { region, ...(endpoint !== undefined && { endpoint }) };
  const client = awsClient(options);
  const source = awsSource(options);
  return {
    client,
    control: client,
    source,
    owners: unknownOwners(createIds({ clock: systemClock })),
    settled: async () => {},
    async close() {
      client.close();
      source.close();
    },
  };
}
