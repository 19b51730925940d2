import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

// A thread with an engine of its own: says when it listens, and when it was woken.

register();
const { createEngine } = await import('../../src/index.ts');
const engine = await createEngine({ path: workerData.folder, sweepIntervalMs: 0, pollIntervalMs: 60_000 });
const since = engine.streamPosition();
void engine.waitForChange(workerData.TableName, undefined, since).then(() => parentPort.postMessage('woken'));
parentPort.postMessage('ready');
parentPort.once('message', () => engine.close());
