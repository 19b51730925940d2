import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Clock, createIds, type Owners, storeOwners, systemClock, unknownOwners } from '@stak/kit';
import { engineSource, type StreamSource } from '@stak/streams';
import type { ControlPlane, DynamoClient } from '@stak/table';
import type { StoreConfig } from './config.ts';

export type Database = {
  client: DynamoClient;
  control: ControlPlane;
  source: StreamSource;
  owners: Owners; // of leases: which of them are gone
  settled(): Promise<void>; // when indexes that were added are filled
  close(): Promise<void>;
};

export type DatabaseOptions = {
  clock?: Clock;
  isGuest?: boolean; // looks and leaves: begins no store, and expired items stay where they are
  isReader?: boolean; // an embedded store is opened for reading only
  onError?(error: Error, work: string): void;
};

// The embedded engine or AWS: whatever is composed above it does not know which.
export function openDatabase(config: StoreConfig, options: DatabaseOptions = {}): Promise<Database> {
  return config.kind === 'aws' ? openAws(config) : openEmbedded(config.path, options);
}

async function openEmbedded(path: string, options: DatabaseOptions): Promise<Database> {
  const { clock = systemClock, isGuest = false, isReader = false, onError } = options;
  const { createEngine } = await import('@stak/engine');
  // Names, addresses and hashes are in there: for its owner only.
  if (path !== ':memory:' && !isGuest) await mkdir(resolve(path), { recursive: true, mode: 0o700 });
  const engine = await createEngine({
    path: path === ':memory:' ? path : resolve(path),
    clock,
    ...(isGuest && { create: false, sweepIntervalMs: 0 }),
    ...(isReader && { readOnly: true }),
    ...(onError && { onError }),
  });
  return {
    client: engine.client,
    control: engine,
    source: engineSource(engine),
    owners: storeOwners(createIds({ clock }), engine),
    settled: () => engine.settled(),
    close: () => engine.close(),
  };
}

// Loaded late: the embedded server never pays for the SDK.
async function openAws({ region, endpoint }: StoreConfig & { kind: 'aws' }): Promise<Database> {
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
