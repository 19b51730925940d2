import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import { createEngine } from '@stak/engine';
import { lowerPriority } from '@stak/kit';
import type { FromScrubThread, ScrubThreadSettings } from './scrub-host.ts';

// The thread that verifies a store once. `scrub-host.ts` starts it.

assert(parentPort, 'this file is started as a thread');
const port = parentPort;
const { path, bytesPerSecond } = workerData as ScrubThreadSettings;
const post = (message: FromScrubThread): void => port.postMessage(message);

lowerPriority();
const stopping = new AbortController();
port.on('message', () => stopping.abort(new Error('the server stops')));
const engine = await createEngine({ path, readOnly: true, joins: false });
try {
  const bytes = await engine.scrub({
    bytesPerSecond,
    signal: stopping.signal,
    onDamage: what => post({ kind: 'damage', what }),
  });
  post({ kind: 'done', bytes });
} catch (error) {
  if (!stopping.signal.aborted) throw error;
} finally {
  await engine.close();
  port.close();
}
