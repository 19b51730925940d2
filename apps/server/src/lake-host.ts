import { Worker as Thread } from 'node:worker_threads';
import type { Logger, Worker, WorkerState } from '@stak/kit';
import type { Counters } from '@stak/streams';
import type { CapacityEntry, DynamoClient } from '@stak/table';
import type { ServerConfig, StoreConfig } from './config.ts';
import type { ObjectsLocation } from './lake-objects.ts';
import { relayLine } from './thread-log.ts';

// Starts the thread that runs the lake's maintenance, and reports its state. Requests to the lake are stored: the
// channel only wakes, reports, and carries the few writes that the thread must not make itself.

export type LakeThreadSettings = {
  store: StoreConfig;
  location: ObjectsLocation;
  scratch: string;
  logLevel: ServerConfig['logLevel'];
  checkpointMs: number;
};

export type FromThread =
  | { kind: 'log'; line: string }
  | { kind: 'write'; id: number; operation: keyof DynamoClient; input: unknown }
  | ({ kind: 'report' } & Report);
export type ToThread =
  | { kind: 'wake' }
  | { kind: 'stop' }
  | { kind: 'answer'; id: number; output?: object; failure?: Failure };

type Failure = { name: string; message: string };
type Report = {
  workers: readonly WorkerState[];
  consumers: readonly { name: string; counters: Counters; shards: number }[];
  units: readonly CapacityEntry[];
};

export type LakeHost = {
  worker: Worker;
  wake(): void;
  workers(): readonly WorkerState[];
  consumers(): Report['consumers'];
  units(): readonly CapacityEntry[];
};

// A capture holds a page of a megabyte, a few times over; larger data are in DuckDB's process. It uses 100 MB at most,
// but with a heap limit below two gigabytes V8 collects whenever the heap has grown by a third: ten times as often,
// which was a fifth of the server's processor time. Unused memory is released when idle.
const ownHeapMb = 2048;
const youngMb = 16; // short-lived objects
const longestStopMs = 8_000; // shorter than the time the server has to stop

const nothing: Report = { workers: [], consumers: [], units: [] };

// From the bundle, or from the sources with a loader.
const ownProgram = new URL(
  import.meta.url.endsWith('.ts') ? '../bin/lake-thread.mjs' : './lake-thread.mjs',
  import.meta.url,
);

export type LakeHostDeps = {
  settings: LakeThreadSettings;
  client: DynamoClient;
  log: Logger;
  program?: URL;
  stopMs?: number; // time to finish its work
  heapMb?: number;
};

export function createLakeHost(deps: LakeHostDeps): LakeHost {
  const { settings, client, log, program = ownProgram } = deps;
  const { stopMs = longestStopMs, heapMb = ownHeapMb } = deps;
  let thread: Thread | undefined;
  let reported = nothing;
  let spentBefore: readonly CapacityEntry[] = []; // of threads that have ended

  async function receive(from: Thread, message: FromThread): Promise<void> {
    if (message.kind === 'log') return relayLine(log, message.line);
    if (message.kind === 'report') {
      reported = message;
      return;
    }
    const { id, operation, input } = message;
    const answer: ToThread = await client[operation](input as never).then(
      output => ({ kind: 'answer', id, output }),
      error => ({ kind: 'answer', id, failure: plain(error) }),
    );
    from.postMessage(answer);
  }

  async function run(signal: AbortSignal): Promise<void> {
    const started = new Thread(program, {
      workerData: settings,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
    });
    thread = started;
    const ended = new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', code =>
        code === 0 || signal.aborted ? resolve() : reject(new Error(`the thread ended with ${code}`)),
      );
    });
    started.on('message', (message: FromThread) => void receive(started, message));
    const stop = () => {
      // Before its first report it holds nothing.
      if (reported === nothing) return void started.terminate();
      started.postMessage({ kind: 'stop' } satisfies ToThread);
      const deadline = setTimeout(() => void started.terminate(), stopMs);
      started.once('exit', () => clearTimeout(deadline));
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await ended;
    } finally {
      signal.removeEventListener('abort', stop);
      thread = undefined;
      spentBefore = addUp([...spentBefore, ...reported.units]);
      reported = nothing;
    }
  }

  return {
    worker: { name: 'lake', run },
    wake: () => thread?.postMessage({ kind: 'wake' } satisfies ToThread),
    workers: () => reported.workers,
    consumers: () => reported.consumers,
    units: () => addUp([...spentBefore, ...reported.units]),
  };
}

// Errors lose their DynamoDB fields when they are sent through a channel.
const plain = (error: unknown): Failure =>
  error instanceof Error
    ? { ...error, name: error.name, message: error.message }
    : { name: 'Error', message: String(error) };

function addUp(entries: readonly CapacityEntry[]): CapacityEntry[] {
  const sums = new Map<string, CapacityEntry>();
  for (const one of entries) {
    const key = `${one.table} ${one.pattern}`;
    const sum = sums.get(key) ?? { ...one, calls: 0, readUnits: 0, writeUnits: 0 };
    sums.set(key, {
      ...sum,
      calls: sum.calls + one.calls,
      readUnits: sum.readUnits + one.readUnits,
      writeUnits: sum.writeUnits + one.writeUnits,
    });
  }
  return [...sums.values()];
}
