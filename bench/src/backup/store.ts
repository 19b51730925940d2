import { join } from 'node:path';
import { createEngine, type Engine } from '@stak/engine';
import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { createBackupHost } from '@stak/server';

// A store that is backed up like that of `stak start`, and puts to measure it with.

const log = createLogger({ level: 'silent' });
const hourMs = 60 * 60_000;
const batchItems = 25;
const loaders = 16;

const tableName = 'notes';

export async function openStore(path: string): Promise<Engine> {
  const engine = await createEngine({ path });
  await engine.execute('CreateTable', {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', 'owner'].map(AttributeName => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-owner',
        KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  return engine;
}

// About a kilobyte of text that compresses badly.
const words = 'lorem ipsum dolor sit amet consetetur sadipscing elitr sed diam nonumy eirmod tempor'.split(
  ' ',
);
function itemOf(n: number, bytes: number) {
  let seed = n;
  let body = '';
  while (body.length < bytes) {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    body += `${words[seed % words.length]} ${seed.toString(36)} `;
  }
  return { pk: `user-${n % 1000}`, sk: String(n).padStart(12, '0'), owner: `owner-${n % 5000}`, body };
}

export function puts(engine: Engine, bytes: number): () => Promise<unknown> {
  let next = 1_000_000_000;
  return () => engine.client.put({ TableName: tableName, Item: itemOf(next++, bytes) });
}

export async function load(engine: Engine, items: number, bytes: number): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: loaders }, async () => {
      while (next < items) {
        const start = next;
        next += batchItems;
        const requests = Array.from({ length: Math.min(batchItems, items - start) }, (_, i) => ({
          PutRequest: { Item: itemOf(start + i, bytes) },
        }));
        await engine.client.batchWrite({ RequestItems: { [tableName]: requests } });
      }
    }),
  );
}

// The thread that ships, as in a server.
export function startBackup(engine: Engine, path: string, target: string) {
  const host = createBackupHost({
    thread: {
      path,
      location: { kind: 'folder', folder: join(target) },
      keys: [{ id: 'bench', secret: new Uint8Array(32).map((_, i) => i) }],
      settings: { everyMs: 500, snapshotMs: 24 * hourMs, keepMs: 24 * hourMs, secretKeyIds: [] },
      logLevel: 'silent',
    },
    store: engine,
    journalBytes: 4 * 1024 ** 3,
    clock: systemClock,
    log,
  });
  const supervisor = superviseWorkers([host.worker], { clock: systemClock, log });
  return { state: host.state, stop: () => supervisor.stop() };
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await systemClock.sleep(20);
}
