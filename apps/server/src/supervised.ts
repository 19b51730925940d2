import cluster from 'node:cluster';
import { untilOutputLost, untilStopped } from './signals.ts';

// What a supervisor and its workers say to each other.

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
  | { kind: 'hello' } // it listens
  | { kind: 'ready'; url: string }
  | { kind: 'prepared' }
  | { kind: 'output lost'; code: number }
  | { kind: 'share'; name: string; value: unknown }
  | { kind: 'gather'; id: number; name: string }
  | { kind: 'answer'; id: number; value: unknown };

// A process that serves, among the others.
export type Supervised = {
  worker: number | undefined; // its number, if there are several
  port: number | undefined; // where all of them listen, if there are several
  isFirst: boolean; // whether it does what is done once
  // Says that this one serves. Resolves when it was said where.
  ready(url: string): Promise<void>;
  prepared(): void; // what is done once is done
  // Something that every process has to know, those that start later included.
  share(name: string, value: unknown): void;
  onShared(name: string, listener: (value: unknown) => void): void;
  // What every process answers by that name.
  answer(name: string, read: () => unknown): void;
  gather(name: string): Promise<unknown[]>;
  stopped: Promise<void>; // when it is asked to stop
};

// The only one.
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

const orphanMs = 10_000; // for a worker to stop that lost its supervisor

// One of several: waits until the supervisor lets it begin.
export async function joinSupervisor(): Promise<Supervised> {
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
  // Without a supervisor it stops in order as well. Node would end it at once, by an exit() that waits for LMDB's
  // threads, while those wait for the transaction that this thread has begun.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
  process.once('disconnect', () => {
    signals.stop.give();
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), orphanMs).unref();
  });
  // A terminal sends Ctrl-C to all of them: the supervisor says what follows.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => signals.stop.give());

  // Threads and the store want to be put down in order, and the others have nobody to speak to either.
  void untilOutputLost().then(code => report({ kind: 'output lost', code }));

  report({ kind: 'hello' });
  const go = await signals.go.given;
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

// Nothing more is said: the process may end.
export const leaveSupervisor = (): void => void cluster.worker?.disconnect();

function signal<T = void>() {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>(resolve => {
    give = resolve;
  });
  return { given, give };
}
