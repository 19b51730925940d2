import { parentPort, workerData } from 'node:worker_threads';
import { createEngine } from '../../src/index.ts';

// A thread with an engine of its own: says when it listens, and when it was woken.

const { folder, TableName } = workerData as { folder: string; TableName: string };
const engine = await createEngine({ path: folder, sweepIntervalMs: 0, pollIntervalMs: 60_000 });
const since = engine.streamPosition();
void engine.waitForChange(TableName, undefined, since).then(() => parentPort!.postMessage('woken'));
parentPort!.postMessage('ready');
parentPort!.once('message', () => engine.close());
