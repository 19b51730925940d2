import { Worker as Thread } from 'node:worker_threads';
import { type Clock, createNotifier, type Logger, type Worker, type WorkerState } from '@stak/kit';
import { listRequests } from '@stak/lake/maintenance';
import type { Counters, StreamSource } from '@stak/streams';
import type { CapacityEntry, DynamoClient } from '@stak/table';
import type { ServerConfig, StoreConfig } from '../../config/config.ts';
import { relayLine } from '../thread-log.ts';
import type { ObjectsLocation, OpenLake } from './lake-objects.ts';
import { followed } from './lake-tables.ts';

// Starts the thread that runs the lake's maintenance, and reports its state. Requests to the lake are stored: the
// channel only wakes, reports, and carries the few writes that the thread must not make itself.
//
// A thread with nothing to do holds a fifth of an idle server's memory. So where the store tells of changes it ends, and
// is started again by the next change, the next request, or after a while.

export type LakeThreadSettings = {
  store: StoreConfig;
  location: ObjectsLocation;
  scratch: string;
  logLevel: ServerConfig['logLevel'];
  checkpointMs: number;
};
// `restAfterMs`: without anything to do, before the thread ends. Undefined: never.
export type LakeThreadData = LakeThreadSettings & { restAfterMs: number | undefined };

export type FromThread =
  | { kind: 'log'; line: string }
  // Everything up to `since` is captured, and `wakes` notices were heard.
  | { kind: 'rest'; since: number; wakes: number }
  | { kind: 'write'; id: number; operation: keyof DynamoClient; input: unknown }
  | ({ kind: 'report' } & Report);
export type ToThread =
  | { kind: 'wake' }
  | { kind: 'stop' }
  | { kind: 'answer'; id: number; output?: object; failure?: Failure };

type Rest = Extract<FromThread, { kind: 'rest' }>;
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

const quietMs = 20_000; // then what follows a change, its compaction for example, is over
const busyQuietMs = 10 * 60_000; // the same where changes come every few minutes: a start takes half a second
const shortRestMs = 5 * 60_000; // a rest that was not worth it
const longestRestMs = 10 * 60_000; // what is due by time, like retention, is up to this late
const requestLookMs = 10_000; // for requests of other processes

const nothing: Report = { workers: [], consumers: [], units: [] };

// From the bundle, or from the sources with a loader.
const ownProgram = new URL(
  import.meta.url.endsWith('.ts') ? '../../../bin/lake-thread.mjs' : './lake-thread.mjs',
  import.meta.url,
);

export type LakeHostDeps = {
  settings: LakeThreadSettings;
  client: DynamoClient;
  source: Pick<StreamSource, 'listStreams' | 'waitForChange'>;
  tables: readonly string[]; // that the lake follows
  hasRequests(): Promise<boolean>;
  clock: Clock;
  log: Logger;
  restAfterMs?: number | undefined;
  program?: URL | undefined;
  stopMs?: number; // time to finish its work
  heapMb?: number;
};

type ServerDeps = Pick<LakeHostDeps, 'client' | 'source' | 'clock' | 'log' | 'restAfterMs' | 'program'>;

// For the lake of this server.
export const hostLake = (
  { store, logLevel }: ServerConfig,
  { objects, location, scratch }: OpenLake,
  { checkpointMs, ...deps }: ServerDeps & { checkpointMs: number },
): LakeHost =>
  createLakeHost({
    ...deps,
    settings: { store, location, scratch, logLevel, checkpointMs },
    tables: followed.map(({ table }) => table.name),
    hasRequests: async () => (await listRequests(objects)).length > 0,
  });

export function createLakeHost(deps: LakeHostDeps): LakeHost {
  const { settings, client, source, tables, clock, log, program = ownProgram } = deps;
  const { stopMs = longestStopMs, heapMb = ownHeapMb, restAfterMs = quietMs } = deps;
  const notifier = createNotifier(clock);
  let thread: Thread | undefined;
  let wakes = 0; // notices to the thread
  let reported = nothing;
  let spentBefore: readonly CapacityEntry[] = []; // of threads that have ended

  async function receive(from: Thread, message: Exclude<FromThread, { kind: 'rest' }>): Promise<void> {
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
    let afterMs = restAfterMs;
    while (!signal.aborted) {
      const rest = await runThread(afterMs, signal);
      if (!rest || signal.aborted) return;
      const beganMs = clock.now();
      await untilNeeded(rest, signal);
      afterMs = clock.now() - beganMs < shortRestMs ? Math.max(restAfterMs, busyQuietMs) : restAfterMs;
    }
  }

  // Until the thread rests, is stopped, or fails.
  async function runThread(afterMs: number, signal: AbortSignal): Promise<Rest | undefined> {
    const started = new Thread(program, {
      workerData: {
        ...settings,
        restAfterMs: source.waitForChange && afterMs,
      } satisfies LakeThreadData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
    });
    thread = started;
    wakes = 0;
    let rest: Rest | undefined;
    let hasReported = false;
    const ended = new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', code =>
        code === 0 || signal.aborted ? resolve() : reject(new Error(`the thread ended with ${code}`)),
      );
    });
    started.on('message', (message: FromThread) => {
      hasReported ||= message.kind === 'report';
      if (message.kind === 'rest') rest = message;
      // Its workers end, and nothing is wrong with them.
      else if (message.kind === 'report' && rest) reported = { ...message, workers: reported.workers };
      else void receive(started, message);
    });
    const stop = () => {
      // Before its first report it holds nothing.
      if (!hasReported) return void started.terminate();
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
      reported = rest ? { ...reported, units: [] } : nothing;
    }
    return rest;
  }

  // A change of a table that the lake follows, a request, or something that is due by its time.
  async function untilNeeded({ since, wakes: heard }: Rest, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const endsMs = clock.now() + longestRestMs;
    let hasChanged = false;
    const end = (): void => {
      hasChanged = true;
      notifier.notify();
    };
    for (const TableName of tables) {
      const { Streams = [] } = await source.listStreams({ TableName });
      for (const { StreamArn = '' } of Streams)
        source.waitForChange?.(StreamArn, waiting.signal, since).then(end, () => {});
    }
    const isNeeded = async () =>
      hasChanged || wakes !== heard || clock.now() >= endsMs || (await deps.hasRequests());
    while (!signal.aborted && !(await isNeeded())) await notifier.wait(requestLookMs, signal);
    waiting.abort();
  }

  return {
    worker: { name: 'lake', run },
    wake() {
      wakes += 1;
      thread?.postMessage({ kind: 'wake' } satisfies ToThread);
      notifier.notify();
    },
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
  for (const entry of entries) {
    const key = `${entry.table} ${entry.pattern}`;
    const sum = sums.get(key) ?? { ...entry, calls: 0, readUnits: 0, writeUnits: 0 };
    sums.set(key, {
      ...sum,
      calls: sum.calls + entry.calls,
      readUnits: sum.readUnits + entry.readUnits,
      writeUnits: sum.writeUnits + entry.writeUnits,
    });
  }
  return [...sums.values()];
}
