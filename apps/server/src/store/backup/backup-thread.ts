import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { createEngine, type JournalPosition } from '@stak/engine';
import { createLogger, lowerPriority, systemClock } from '@stak/kit';
import { openObjects } from '../lake/lake-objects.ts';
import type { BackupThreadSettings, FromBackupThread, ToBackupThread } from './backup-host.ts';
import { createShipper } from './shipper.ts';
import { engineBackup } from './source.ts';

// The thread that ships the backup. `backup-host.ts` starts it.

assert(parentPort, 'this file is started as a thread');
const port = parentPort;
const { path, location, keys, settings, logLevel } = workerData as BackupThreadSettings;
const post = (message: FromBackupThread): void => port.postMessage(message);

const reportMs = 500;
lowerPriority();

const stopping = new AbortController();
const log = createLogger({ level: logLevel, destination: { write: line => post({ kind: 'log', line }) } });
const engine = await createEngine({ path, readOnly: true, joins: false });
const objects = openObjects(location);
let begun: { resolve(position: JournalPosition): void; reject(error: Error): void } | undefined;
const begin = () =>
  new Promise<JournalPosition>((resolve, reject) => {
    begun = { resolve, reject };
    post({ kind: 'begin' });
  });
const shipper = createShipper({
  source: engineBackup(path, engine, begin),
  target: { objects, keys },
  clock: systemClock,
  log,
  settings,
});
port.on('message', (message: ToBackupThread) => {
  if (message.kind === 'stop') return stopping.abort(new Error('the backup stops'));
  if (message.position) begun?.resolve(message.position);
  else begun?.reject(new Error(message.failure));
});
const reporting = setInterval(report, reportMs);

function report(): void {
  post({ kind: 'report', state: shipper.state() });
}

await shipper.run(stopping.signal);
await shipper.finish().catch(error => log.error({ err: error }, 'the last commits were not backed up'));
clearInterval(reporting);
report();
objects.close();
await engine.close();
port.close();
