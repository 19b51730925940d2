import cluster from 'node:cluster';
import { untilOutputLost, untilStopped } from './signals.ts';

// The messages between a supervisor and its workers.

export type ToWorker =
  | {
      kind: 'go';
      worker: number;
      port: number;
      isFirst: boolean;
      isServing: boolean;
      shared: [string, unknown][];
    }
  | { kind: 'serving' }
  | { kind: 'shared'; name: string; value: unknown }
  | { kind: 'ask'; id: number; name: string }
  | { kind: 'gathered'; id: number; answers: unknown[] }
  | { kind: 'stop' };
export type FromWorker =
  | { kind: 'hello' } // it listens for messages
  | { kind: 'ready'; url: string }
  | { kind: 'prepared' }
  | { kind: 'output lost'; code: number }
  | { kind: 'share'; name: string; value: unknown }
  | { kind: 'gather'; id: number; name: string }
  | { kind: 'answer'; id: number; value: unknown };

// A serving process, as its supervisor and the other processes see it.
export type Supervised = {
  worker: number | undefined; // its number, if there are several
  port: number | undefined; // where all of them listen, if there are several
  isFirst: boolean; // whether it does the work that is done once, such as creating tables
  // Reports that this process serves. Resolves when the address has been printed.
  ready(url: string): Promise<void>;
  prepared(): void; // reports that the work that is done once is done
  // Shares a value with every process, including those that start later.
  share(name: string, value: unknown): void;
  onShared(name: string, listener: (value: unknown) => void): void;
  // `gather` returns what `answer` returns in every process.
  answer(name: string, read: () => unknown): void;
  gather(name: string): Promise<unknown[]>;
  stopped: Promise<void>; // when it is asked to stop
};

// For a server with one process.
export function alone(say: (url: string) => void): Supervised {
  const answers = new Map<string, () => unknown>();
  const listeners = new Map<string, (value: unknown) => void>();
  return {
    worker: undefined,
    port: undefined,
    isFirst: true,
    ready: async url => say(url),
    prepared() {},
    share: (name, value) => listeners.get(name)?.(value),
    onShared: (name, listener) => void listeners.set(name, listener),
    answer: (name, read) => void answers.set(name, read),
    gather: async name => [await answers.get(name)?.()],
    stopped: untilStopped(),
  };
}

const orphanMs = 10_000; // how long a worker without a supervisor may take to stop

// For one of several processes. Waits until the supervisor lets it start; undefined if it is to stop instead.
export async function joinSupervisor(): Promise<Supervised | undefined> {
  const answers = new Map<string, () => unknown>();
  const listeners = new Map<string, (value: unknown) => void>();
  const gatherings = new Map<number, (answers: unknown[]) => void>();
  let shared = new Map<string, unknown>();
  let lastGathering = 0;
  const report = (message: FromWorker) => void (process.connected && process.send!(message));
  const signals = { go: signal<ToWorker & { kind: 'go' }>(), serving: signal(), stop: signal() };

  const noteShared = (name: string, value: unknown) => {
    shared.set(name, value);
    listeners.get(name)?.(value);
  };
  process.on('message', async (message: ToWorker) => {
    if (message.kind === 'go') signals.go.give(message);
    else if (message.kind === 'serving') signals.serving.give();
    else if (message.kind === 'stop') signals.stop.give();
    else if (message.kind === 'shared') noteShared(message.name, message.value);
    else if (message.kind === 'gathered') {
      gatherings.get(message.id)?.(message.answers);
      gatherings.delete(message.id);
    } else if (message.kind === 'ask') {
      const value = await answers.get(message.name)?.();
      report({ kind: 'answer', id: message.id, value });
    }
  });
  // Without its supervisor, a worker still stops in order. Node would call exit(), which waits for LMDB's threads, while
  // those wait for the transaction that this thread has begun.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => {
    signals.stop.give();
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), orphanMs).unref();
  });
  // A terminal sends Ctrl-C to all processes. The supervisor decides what to do.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => signals.stop.give());

  // The supervisor then stops all workers in order: they share the same output.
  void untilOutputLost().then(code => report({ kind: 'output lost', code }));

  report({ kind: 'hello' });
  const go = await Promise.race([signals.go.given, signals.stop.given]);
  if (!go) return undefined;
  shared = new Map(go.shared);
  if (go.isServing) signals.serving.give();
  return {
    worker: go.worker,
    port: go.port,
    isFirst: go.isFirst,
    ready(url) {
      report({ kind: 'ready', url });
      return signals.serving.given;
    },
    prepared: () => report({ kind: 'prepared' }),
    share(name, value) {
      noteShared(name, value);
      report({ kind: 'share', name, value });
    },
    onShared(name, listener) {
      listeners.set(name, listener);
      if (shared.has(name)) listener(shared.get(name));
    },
    answer: (name, read) => void answers.set(name, read),
    gather: name =>
      new Promise(resolve => {
        const id = ++lastGathering;
        gatherings.set(id, resolve);
        report({ kind: 'gather', id, name });
      }),
    stopped: signals.stop.given,
  };
}

// Closes the channel to the supervisor, so that the process can exit.
export const leaveSupervisor = (): void => void cluster.worker?.disconnect();

function signal<T = void>() {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>(resolve => {
    give = resolve;
  });
  return { given, give };
}
