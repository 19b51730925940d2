import { Worker } from 'node:worker_threads';
import type { Clock } from '@stak/kit';
import * as limits from './limits.ts';
import type { TransformFailureReason } from './outcome.ts';

export type Script = { code: string; event: string };

export type Reply =
  | { dropped: true }
  | { kind: 'json' | 'text' | 'base64'; body: string; headers: string }
  | { reason: TransformFailureReason; message: string };

// A spent thread has used up its memory and is not to be used again.
type Condition = { spent?: boolean };

export type SandboxThread = {
  // One at a time. A thread that did not answer by itself has ended: `alive` is false.
  run(script: Script): Promise<Reply>;
  alive(): boolean;
  stop(): Promise<void>;
};

export type ThreadSettings = { clock: Clock; scriptMs: number };

export const crashed: Reply = { reason: 'crashed', message: 'The sandbox ended unexpectedly' };

// Neither loaders nor environment nor standard streams go in: the thread knows its interpreter and its messages.
export function startThread({ clock, scriptMs }: ThreadSettings): SandboxThread {
  const worker = new Worker(new URL('./sandbox-worker.mjs', import.meta.url), {
    name: 'transforms',
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: limits.threadHeapMb, stackSizeMb: limits.threadStackMb },
    workerData: {
      memoryBytes: limits.memoryBytes,
      stackBytes: limits.stackBytes,
      outputChars: limits.outputBytes,
      messageChars: limits.messageChars,
    },
  });
  let alive = true;
  let receive: (message: unknown) => void = () => {};
  const end = () => {
    alive = false;
    receive(crashed);
  };
  worker.on('message', message => receive(message));
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref(); // an idle thread keeps no process alive; whoever waits for an answer does

  // The thread's next message, or `late` when it takes longer than this, and then the thread is ended.
  const expect = (ms: number, late: Reply, send?: () => void): Promise<unknown> =>
    new Promise(resolve => {
      const answered = new AbortController();
      receive = message => {
        receive = () => {};
        answered.abort();
        resolve(message);
      };
      clock.sleep(ms, answered.signal).then(
        () => {
          void stop();
          receive(late);
        },
        () => {},
      );
      send?.();
    });

  const stop = async () => {
    alive = false;
    await worker.terminate();
  };

  const ready = expect(limits.startMs, crashed);
  return {
    async run(script) {
      await ready;
      if (!alive) return crashed;
      const late: Reply = { reason: 'time_limit', message: 'The script took too long' };
      const send = () => worker.postMessage({ ...script, allowedMs: scriptMs });
      const { spent, ...reply } = (await expect(scriptMs + limits.graceMs, late, send)) as Reply & Condition;
      if (spent) await stop();
      return reply;
    },
    alive: () => alive,
    stop,
  };
}
