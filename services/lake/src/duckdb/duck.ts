import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Clock, lowerPriority, systemClock } from '@stak/kit';
import { lakeErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { createMemoryWatch } from './memory-watch.ts';

export const fileFormats = ['csv', 'arrow', 'parquet'] as const;
export type FileFormat = (typeof fileFormats)[number];

type ParamValue = string | number | boolean | null;
export type QueryParams = readonly ParamValue[] | Readonly<Record<string, ParamValue>>;

export type DuckJob = {
  // Our own statements, which may read and write files.
  prepare: readonly string[];
  // The statement whose rows are returned. If it is untrusted, it sees tables in memory and no files.
  sql?: string;
  params?: QueryParams; // of the statement
  output?: { path: string; format: FileFormat }; // a file for the rows, instead of the response
  timeoutMs?: number; // instead of the pool's
  isUntrusted?: boolean;
  scratch?: string;
  maxRows?: number;
  maxBytes?: number;
};
export type DuckAnswer = {
  columns: { name: string; type: string }[]; // empty if the rows are in a file
  rows: unknown[][];
  truncated: boolean;
  bytes?: number; // of the file
};

// A pool of DuckDB processes, one per job that may run at a time. They are started on demand.
export type Duck = { run(job: DuckJob): Promise<DuckAnswer>; close(): void };

// Processes are watched by the clock of the machine they run on.
type Settings = { clock?: Clock; processes: number; queue: number; timeoutMs: number; memory?: Memory };
// `largest`: for a job that fails for lack of memory, which is then run again.
type Memory = { limit: string; largest?: string; rssBytes: number };
type Waiting = { job: DuckJob; resolve(answer: DuckAnswer): void; reject(error: unknown): void };
type Child = { process: ChildProcess; isReady: boolean; job?: Waiting; timer?: AbortController };

const memoryWatch = createMemoryWatch();
const program = fileURLToPath(new URL('./duck-process.mjs', import.meta.url));

export function createDuck(given: Settings): Duck {
  const { clock = systemClock, processes, queue, timeoutMs } = given;
  const memory: Memory = given.memory ?? limits.callerMemory;
  const children = new Set<Child>();
  const waiting: Waiting[] = [];
  let isClosed = false;

  function start(): Child {
    const child: Child = {
      isReady: false,
      process: startProcess({
        onMessage: message => receive(child, message),
        onError(error) {
          children.delete(child);
          fail(child, error);
        },
        onExit(error) {
          children.delete(child);
          fail(child, error);
          next();
        },
      }),
    };
    children.add(child);
    return child;
  }

  function next(): void {
    if (isClosed) return;
    for (const child of children) if (!child.job && waiting.length > 0) begin(child, waiting.shift()!);
    while (waiting.length > 0 && children.size < processes) begin(start(), waiting.shift()!);
  }

  function begin(child: Child, waiter: Waiting): void {
    child.job = waiter;
    const job = {
      memory: memory.limit,
      largestMemory: memory.largest,
      maxRows: limits.resultRows,
      maxBytes: limits.resultBytes,
      ...waiter.job,
    };
    child.process.ref();
    child.process.channel?.ref();
    if (child.process.pid !== undefined) memoryWatch.watch(child.process.pid, memory.rssBytes);
    child.process.send(job);
    limitTime(child, child.isReady ? timeOf(waiter) : limits.duckStartMs);
  }

  const timeOf = ({ job }: Waiting): number => job.timeoutMs ?? timeoutMs;

  function limitTime(child: Child, ms: number): void {
    setTimer(child, ms, () => {
      end(child);
      fail(child, tooSlow(ms));
    });
  }

  function receive(child: Child, { ready, answer, error }: Message): void {
    if (ready) {
      // On a busy machine the start alone takes seconds, which do not count for the query.
      child.isReady = true;
      if (child.job) limitTime(child, timeOf(child.job));
      return;
    }
    const waiter = release(child);
    setTimer(child, limits.duckIdleMs, () => end(child));
    if (answer) waiter?.resolve(answer);
    else waiter?.reject(explain(waiter.job, error ?? { message: 'no answer' }));
    next();
  }

  // The process takes a moment to exit, and must get no other job meanwhile.
  function end(child: Child): void {
    children.delete(child);
    child.process.kill('SIGKILL');
  }

  const fail = (child: Child, error: unknown): void => release(child)?.reject(error);

  function release(child: Child): Waiting | undefined {
    const waiter = child.job;
    child.timer?.abort();
    delete child.job;
    if (child.process.pid !== undefined) memoryWatch.rest(child.process.pid);
    child.process.unref();
    child.process.channel?.unref();
    return waiter;
  }

  function setTimer(child: Child, ms: number, act: () => void): void {
    child.timer?.abort();
    child.timer = new AbortController();
    clock.sleep(ms, child.timer.signal).then(act, () => {});
  }

  return {
    run(job) {
      if (isClosed || waiting.length >= queue) return Promise.reject(busy());
      return new Promise((resolve, reject) => {
        waiting.push({ job, resolve, reject });
        next();
      });
    },
    close() {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(busy());
      for (const child of children) {
        child.timer?.abort();
        end(child);
      }
    },
  };
}

type ProcessEvents = {
  onMessage(message: Message): void;
  onError(error: Error): void;
  onExit(error: Error): void;
};

// Starts a process of DuckDB, with a low priority.
function startProcess({ onMessage, onError, onExit }: ProcessEvents): ChildProcess {
  const started = fork(program, {
    execArgv: [],
    env: { TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const { pid } = started;
  if (pid !== undefined) lowerPriority(pid);
  started.on('message', message => onMessage(message as Message));
  started.on('error', onError);
  started.on('exit', (code, signal) => {
    if (pid !== undefined) memoryWatch.forget(pid);
    // Killed by the memory watch, or by the kernel when the machine ran out of memory.
    const isTooLarge = signal === 'SIGKILL';
    onExit(isTooLarge ? tooLarge() : new Error(`DuckDB ended with ${code ?? signal}`));
  });
  // A server that stops does not wait for it.
  started.unref();
  started.channel?.unref();
  return started;
}

export type ReaderDucks = {
  callers: Duck; // callers' SQL
  insights: Duck; // our own SQL, while a caller waits
};
// `maintenance` runs our own SQL when no caller waits.
export type Ducks = ReaderDucks & { maintenance: Duck };

export const createReaderDucks = (): ReaderDucks => ({
  callers: createDuck({
    processes: limits.callerProcesses,
    queue: limits.callerQueue,
    timeoutMs: limits.callerMs,
  }),
  insights: createDuck({ processes: 1, queue: limits.ownQueue, timeoutMs: limits.insightMs }),
});

export const createMaintenanceDuck = (): Duck =>
  createDuck({ processes: 1, queue: limits.ownQueue, timeoutMs: limits.ownMs, memory: limits.ownMemory });

export const createDucks = (): Ducks => ({ ...createReaderDucks(), maintenance: createMaintenanceDuck() });

type Failure = { kind?: string; message: string };
type Message = { ready?: true; answer?: DuckAnswer; error?: Failure };

const tooLarge = () =>
  lakeErrors.create('lake.query_too_large', 'The query needs more memory than it may have.');
const tooSlow = (ms: number) =>
  lakeErrors.create('lake.query_too_slow', `The query took longer than ${ms / 1000} seconds.`);
const busy = () => lakeErrors.create('lake.busy', 'Too many queries are waiting.', { retryAfterS: 5 });

const allowed = 'SQL may read the tables it is given, and nothing else.';

// A missing file or a full disk: not the query's fault.
export class DuckError extends Error {
  override readonly name = 'DuckError';
}

// Callers get DuckDB's message about their query, unless it mentions files.
function explain({ isUntrusted }: DuckJob, { kind, message }: Failure): Error {
  const [name = '', ...rest] = message.split(' Error: ');
  const text = rest.join(' Error: ').trim();
  if (isUntrusted && name === 'Out of Memory') return tooLarge();
  if (!isUntrusted || kind === 'preparation') return new DuckError(message);
  if (kind === 'size') return lakeErrors.create('lake.query_too_large', message);
  if (kind === 'syntax') return lakeErrors.create('lake.sql_invalid', text || message);
  if (kind === 'forbidden') return lakeErrors.create('lake.sql_forbidden', `${message} ${allowed}`);
  if (name === 'Permission') return lakeErrors.create('lake.sql_forbidden', allowed);
  if (['Parser', 'Catalog', 'Binder'].includes(name)) return lakeErrors.create('lake.sql_invalid', text);
  return lakeErrors.create('lake.sql_failed', text || message);
}
