import { resolve } from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import type { Engine } from '@stak/engine';
import type { Clock, Logger, Worker } from '@stak/kit';
import type { StoreConfig } from '../../config/config.ts';

// Verifies the whole of an embedded store once a day, in a thread of one of its processes, at a bounded rate. What is
// damaged is in the log and makes /readyz degraded, until a later pass finds the store sound.

export type ScrubThreadSettings = { path: string; bytesPerSecond: number };
export type FromScrubThread = { kind: 'damage'; what: string } | { kind: 'done'; bytes: number };

export type ScrubHost = { worker: Worker; check(): Promise<'degraded' | undefined> };

export type ScrubDeps = {
  store: Pick<Engine, 'claim'>;
  clock: Clock;
  log: Logger;
  timing?: { firstMs: number; everyMs: number; bytesPerSecond: number };
};

const hourMs = 60 * 60_000;
const usual = {
  firstMs: 10 * 60_000, // after a start
  everyMs: 24 * hourMs,
  bytesPerSecond: 4 * 1024 * 1024, // 10 GB in an hour, for a hundredth of a core
};
const heapMb = 128;
const stopMs = 5_000;

// From the bundle, or from the sources with a loader.
const program = new URL(
  import.meta.url.endsWith('.ts') ? '../../../bin/scrub-thread.mjs' : './scrub-thread.mjs',
  import.meta.url,
);

/** Undefined if there is no file to verify. */
export function createScrubHost(
  config: StoreConfig,
  { store, clock, log, timing = usual }: ScrubDeps,
): ScrubHost | undefined {
  if (config.kind !== 'embedded' || config.path === ':memory:') return undefined;
  const path = resolve(config.path);
  let isDamaged = false;

  async function scrub(signal: AbortSignal): Promise<void> {
    const thread = new Thread(program, {
      workerData: { path, bytesPerSecond: timing.bytesPerSecond } satisfies ScrubThreadSettings,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    let damages = 0;
    let deadline: NodeJS.Timeout | undefined;
    const stop = () => {
      thread.postMessage('stop');
      deadline = setTimeout(() => void thread.terminate(), stopMs);
    };
    signal.addEventListener('abort', stop, { once: true });
    thread.on('message', (message: FromScrubThread) => {
      if (message.kind === 'done') {
        isDamaged = damages > 0;
        log.info({ bytes: message.bytes, damages }, 'the store was verified');
        return;
      }
      damages++;
      isDamaged = true;
      log.error(
        { damaged: message.what },
        'the store is damaged: stop the server and run stak dynamodb check --repair',
      );
    });
    try {
      await new Promise<void>((done, fail) => {
        thread.once('error', fail);
        thread.once('exit', () => done());
      });
    } finally {
      signal.removeEventListener('abort', stop);
      clearTimeout(deadline);
    }
  }

  return {
    worker: {
      name: 'scrub',
      async run(signal) {
        await clock.sleep(timing.firstMs, signal);
        while (!signal.aborted) {
          // One of several processes does it.
          if (await store.claim('scrub', timing.everyMs)) await scrub(signal);
          await clock.sleep(timing.everyMs, signal);
        }
      },
    },
    check: async () => (isDamaged ? 'degraded' : undefined),
  };
}
