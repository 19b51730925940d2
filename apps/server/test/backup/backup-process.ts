import { once } from 'node:events';
import { createEngine } from '@stak/engine';
import { createLogger, superviseWorkers, systemClock } from '@stak/kit';
import { createBackupHost } from '../../src/store/backup/backup-host.ts';
import { operationOf, requestOf, type Told, writersPerProcess } from './crash-model.ts';

// A process that writes to a store and ships its backup, until it is killed. It tells its parent what was acknowledged,
// and how far the backup says it is.

const { path, location, keys, number, starts, snapshotMs } = JSON.parse(process.argv[2]!);
const tell = (message: Told) => process.send!(message);
const log = createLogger({ level: 'silent' });
const clock = systemClock;
const engine = await createEngine({ path, sweepIntervalMs: 1000 });
const settings = { everyMs: 500, snapshotMs, keepMs: 60 * 60_000, secretKeyIds: [] };
const secrets = keys.map(({ id, secret }: { id: string; secret: string }) => ({
  id,
  secret: new Uint8Array(Buffer.from(secret, 'base64')),
}));
const host = createBackupHost({
  thread: { path, location, keys: secrets, settings, logLevel: 'silent' },
  store: engine,
  journalBytes: 1024 ** 3,
  clock,
  log,
});
superviseWorkers([host.worker], { clock, log });
setInterval(() => {
  const state = host.state();
  if (state) tell({ kind: 'shipped', until: state.shippedUntil, hasSnapshot: state.snapshotAt > 0 });
}, 50);

// Until there is a snapshot, each writer makes only a few writes: a busy machine would otherwise have the more to copy
// the longer it takes.
const firstWrites = 50;
const hasSnapshot = once(process, 'message');

await Promise.all(
  Array.from({ length: writersPerProcess }, async (_, i) => {
    const writer = number * writersPerProcess + i;
    for (let n: number = starts[writer] + 1; ; n++) {
      if (n > starts[writer] + firstWrites) await hasSnapshot;
      await engine.client.transactWrite(requestOf(operationOf(writer, n)));
      tell({ kind: 'done', writer, n, at: Date.now() });
    }
  }),
);
