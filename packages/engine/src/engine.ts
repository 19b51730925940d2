import { randomUUID } from 'node:crypto';
import { type GetRecordsOutput, readStream } from './actions/get-records.ts';
import { createJobs } from './background-jobs.ts';
import { checkStore } from './check.ts';
import { createClaims } from './claims.ts';
import { createClient } from './client/client.ts';
import { createDocumentClient, type DocumentClient } from './client/document-client.ts';
import { marshalInput } from './client/marshal-input.ts';
import { createPlainWrites } from './client/plain-writes.ts';
import type { Context, View } from './context.ts';
import { DynamoError, internalError } from './errors.ts';
import { createHistory, type HistorySettings } from './history/history.ts';
import { createJournal, type Journal, type JournalSettings } from './journal/journal.ts';
import type { JournalPosition } from './journal/position.ts';
import { takeSnapshot } from './journal/snapshot.ts';
import { openChecked } from './open-store.ts';
import { findAction, writeOperations } from './operations.ts';
import type { PartitionUsage } from './partition-usage.ts';
import { joinPeers } from './peers.ts';
import { createPrepared } from './prepared/prepared.ts';
import { type Repair, repairStore } from './repair.ts';
import { type ScrubOptions, scrubStore } from './scrub.ts';
import { stats } from './stats.ts';
import { createCommitter, type Tx } from './storage/committer.ts';
import { makeFolder, StoreError, storeExists } from './storage/file.ts';
import type { Store } from './storage/store.ts';
import { verifyInBackground } from './storage/verify-pages.ts';
import { createWritePause, type WritePause } from './storage/write-pause.ts';
import { createStreamHub } from './streams/hub.ts';
import { rollShards } from './streams/lifecycle.ts';
import { sequenceText } from './streams/names.ts';
import { createRecentRecords } from './streams/recent-records.ts';
import { changeSize, type LazyRecord } from './streams/records.ts';
import { type Buckets, bucketsOf } from './transfer/buckets.ts';
import { sweepExpired } from './ttl-sweeper.ts';
import { resumeMaintenance } from './unfinished-work.ts';
import type { GetRecordsInput } from './validation/streams.ts';
import { createVectors } from './vectors/upkeep.ts';
import { nativeView, wireView } from './views.ts';

/** Options of `createEngine`. Only `path` is required. */
export type EngineOptions = {
  // A folder, or ':memory:'.
  path: string;
  // Whether to create a store if there is none. Default: true.
  create?: boolean;
  // Only reads, and runs no background work. For a thread that may be terminated at any line: a write transaction that
  // ends with its thread leaves LMDB locked for the whole process.
  readOnly?: boolean;
  // Whether to join the other peers of the store, which then report their commits to this one. Default: true. A reader
  // that polls now and then costs the others less without it.
  joins?: boolean;
  clock?: { now(): number };
  region?: string;
  accountId?: string;
  // How often expired items, old change records and used tokens are removed; 0 leaves that to `sweep()`, and the history
  // to `history.maintain()`.
  sweepIntervalMs?: number;
  // Open shards of a new stream. AWS decides this by load; more than one is for testing consumers.
  streamShards?: number;
  // How often a waiting stream reader polls for commits of other processes that were not reported to it. By default
  // every second, or ten times a second if processes cannot notify each other.
  pollIntervalMs?: number;
  journal?: JournalSettings;
  // How much of its history a store in a folder keeps there. By default a day, in at most a gigabyte.
  history?: HistorySettings | false;
  // Where exports and imports find their buckets: a folder with a folder for each, or a function that opens one by its
  // name. By default the folder `buckets` of a store in a folder.
  buckets?: string | Buckets;
  // How many pages of keys and values are verified before the store is open; the others when they are first needed, and
  // in the background. By default 16 MB.
  pagesVerifiedAtOpen?: number;
  // Memory for what searches of large vector indexes read often; the system gives it when it is used. 128 MiB by default.
  vectorCacheBytes?: number;
  // Called with the partition that each call consumes units of, to find the hottest ones. Scans have none.
  onUsage?(usage: PartitionUsage): void;
  // Called when background work fails. By default, failures are process warnings.
  onError?(error: Error, work: string): void;
};

/** An open store. Created with `createEngine`. */
export type Engine = Awaited<ReturnType<typeof createEngine>>;

const sweepChunk = 1000;
const historyEveryMs = 10_000;
const historyClaimMs = 60 * 60_000; // longer than a snapshot takes; the claim of a process that died is free at once
const askedPerTick = 500; // a few milliseconds of work
const nextTick = () => new Promise(setImmediate);

/**
 * Opens a DynamoDB in this process: in a folder, which is created if it is missing, or in memory.
 *
 *     const engine = await createEngine({ path: './data' });
 *     await engine.execute('CreateTable', { … });
 *     await engine.client.put({ TableName: 'notes', Item: { id: 'a', text: 'Milk' } });
 *     await engine.close();
 */
export async function createEngine(options: EngineOptions) {
  const { path, clock = Date, readOnly = false } = options;
  const sweepIntervalMs = readOnly ? 0 : (options.sweepIntervalMs ?? 30_000);
  const onError = options.onError ?? ((error, work) => process.emitWarning(error, { detail: work }));
  const { store, catalog } = await openChecked(path, {
    mayCreate: options.create !== false && !readOnly,
    readOnly,
    pagesVerifiedAtOpen: options.pagesVerifiedAtOpen,
  });
  const journal =
    path === ':memory:'
      ? undefined
      : createJournal(store, { ...options.journal, now: () => clock.now(), isReader: readOnly, onError });
  const recentRecords = createRecentRecords(changeSize);
  const pause = createWritePause(store, () => clock.now());
  const committer = createCommitter(
    store,
    {
      committed(changes, appended, vectors) {
        if (appended) recentRecords.add(appended);
        hub.notify(changes);
        peers.notifyCommit(changes);
        for (const partition of vectors) context.vectors.look(partition);
      },
      aborted() {
        catalog.forget();
        journal?.forget();
      },
    },
    { journal, refusal: pause.refusal },
  );

  const closing = new AbortController();
  const jobs = createJobs(closing.signal, onError);
  const context: Context = {
    store,
    catalog,
    submit: readOnly
      ? () => Promise.reject(internalError('the store is opened for reading'))
      : committer.submit,
    buckets: bucketsOf(path, options.buckets),
    peer: { id: randomUUID(), isGone: async () => false },
    recentRecords,
    now: () => clock.now(),
    region: options.region ?? 'us-east-1',
    accountId: options.accountId ?? '123456789012',
    streamShards: options.streamShards ?? 1,
    onUsage: options.onUsage,
    background: jobs.start,
    get vectors() {
      return vectors;
    },
  };
  const hub = createStreamHub(context, {
    pollMs: () => options.pollIntervalMs ?? (peers.id === undefined ? 100 : 1000),
    signal: closing.signal,
    watch: (streamId, since) => peers.watch(streamId, since),
    unwatch: streamId => peers.unwatch(streamId),
  });
  const { events, ...listeners } = createPeerListeners();
  const peers = await joinPeers(options.joins === false ? ':memory:' : path, {
    ...events,
    onCommit: hub.look,
  });
  const claim = createClaims(context, peers);
  if (peers.id !== undefined) context.peer = { id: peers.id, isGone: peers.isGone };
  const history =
    journal && options.history !== false
      ? createHistory(store, {
          ...options.history,
          now: () => clock.now(),
          settled: journal.settled,
          claim: () => claim('history', historyClaimMs),
          onError,
        })
      : undefined;
  context.history = history;
  const vectors = createVectors(context, { cacheBytes: options.vectorCacheBytes, claim, isReader: readOnly });
  if (!readOnly && !pause.read()) resumeMaintenance(context);

  const prepared = createPrepared(context, answerPrepared);

  // Tagged values in and out, as on the wire.
  const execute = (operation: string, input: unknown) => run(operation, input, wireView);

  const executeNative = createPlainWrites(
    context,
    prepared,
    (operation, input) => run(operation, marshalInput(operation, input), nativeView),
    closing.signal,
  );

  function run(operation: string, input: unknown, view: View<unknown>): Promise<object> {
    return answer(() => {
      const action = findAction(operation);
      if (!action) throw new DynamoError('UnknownOperationException', `Unknown operation: ${operation}`);
      return action(context, input as never, view);
    }, writeOperations.has(operation));
  }

  // Not an `async` function: a result that is available already costs no extra turn of the event loop. But a caller
  // that only reads, in a loop, would then block timers and everything else, so every so often a result waits.
  let asked = 0;
  function answer<T>(act: () => T | Promise<T>, isWrite = false): Promise<T> {
    try {
      if (closing.signal.aborted) throw internalError('the engine is closed');
      const result = isWrite ? Promise.resolve(act()) : settle(act());
      return ++asked % askedPerTick === 0 ? result.finally(nextTick) : result;
    } catch (error) {
      const settling = settled();
      return settling ? settling.then(() => Promise.reject(error)) : Promise.reject(error);
    }
  }

  // The same for results that need no promise.
  function answerPrepared<T>(act: () => T): T | Promise<T> {
    if (closing.signal.aborted) throw internalError('the engine is closed');
    const result = act();
    const settling = settled();
    if (settling) return settling.then(() => result);
    return ++asked % askedPerTick === 0 ? nextTick().then(() => result) : result;
  }

  // A result, or an error, may come from a commit that is not on the disk yet. It leaves the engine when that is.
  const settled = (): Promise<void> | undefined => (closing.signal.aborted ? undefined : journal?.settled());
  async function settleLater<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } finally {
      await settled();
    }
  }
  function settle<T>(result: T | Promise<T>): Promise<T> {
    if (result instanceof Promise) return journal ? settleLater(result) : result;
    const settling = settled();
    return settling ? settling.then(() => result) : Promise.resolve(result);
  }

  // Removes everything that is due, a chunk at a time.
  async function sweep(): Promise<number> {
    let removed = 0;
    let chunk: number;
    do {
      chunk = await sweepExpired(context, { limit: sweepChunk });
      removed += chunk;
    } while (chunk === sweepChunk && !closing.signal.aborted);
    return removed;
  }

  const stopVerifying = verifyInBackground(store, onError);

  // Also resumes what another process left unfinished when it was killed.
  function maintain(): void {
    store.clearDeadReaders();
    if (pause.read()) return;
    resumeMaintenance(context);
    context.background('sweep', async () => {
      if (await claim('sweeper', 2 * sweepIntervalMs)) await sweep();
    });
  }
  // Not one of the jobs that `settled` waits for: a snapshot of a large store takes minutes.
  let maintaining: Promise<void> | undefined;
  const keepHistory = (): void => {
    if (history && !pause.read()) maintaining = history.maintain(closing.signal);
  };
  const keepsHistory = history !== undefined && sweepIntervalMs > 0;
  const historyTimer = keepsHistory ? setInterval(keepHistory, historyEveryMs).unref() : undefined;
  if (keepsHistory) keepHistory();
  const timer = sweepIntervalMs > 0 ? setInterval(maintain, sweepIntervalMs).unref() : undefined;

  // Writes a copy that is consistent while the engine continues working.
  async function backup(to: string): Promise<void> {
    if (storeExists(to)) throw new StoreError(`${to} already holds a store: choose another folder`);
    makeFolder(to);
    await store.backup(to);
  }

  async function close(): Promise<void> {
    if (closing.signal.aborted) return;
    closing.abort(new Error('the engine is closing'));
    clearInterval(timer);
    clearInterval(historyTimer);
    stopVerifying();
    await Promise.all([jobs.settled(), maintaining]);
    await committer.close();
    await journal?.close();
    peers.close();
    await store.close();
  }

  const client = createClient(executeNative, prepared);
  return {
    execute,
    client,
    documentClient: (): DocumentClient => createDocumentClient(executeNative, execute),
    // GetRecords for a reader in this process: an image is decoded when it is read.
    readStream: (input: GetRecordsInput): Promise<GetRecordsOutput<LazyRecord>> =>
      answer(() => readStream(context, input)),
    waitForChange: hub.waitForChange,
    streamPosition: hub.position,
    // The sequence number of the newest record in any stream, another process's included.
    streamSequence(): string {
      store.refresh();
      return sequenceText(hub.position());
    },
    // Identifies this peer of the store, for leases, so that others can detect whether it has ended. Undefined in
    // memory, and if the folder allows no sockets.
    id: peers.id,
    isGone: peers.isGone,
    ...listeners,
    // Sends a message that is stored nowhere to one peer, or to all; lost if it is not read in time.
    send: peers.send,
    rollShards: (tableName: string) => rollShards(context, tableName),
    sweep,
    backup,
    journal: journalOf(context, journal),
    writePause: writePauseOf(store, pause, work =>
      readOnly ? context.submit(work) : committer.submit(work, { isExempt: true }),
    ),
    // Earlier states of this store; undefined if none are kept.
    history,
    // A copy of everything that is stored, to be read piece by piece.
    snapshot: () => takeSnapshot(store),
    // Whether this peer may do work that only one may do, for that long or until it ends.
    claim: (name: string, leaseMs: number) => claim(`claims/${name}`, leaseMs),
    stats: () => stats(context),
    check: () => checkStore(context),
    // Verifies everything at a bounded rate, while the store is used.
    scrub: (options: ScrubOptions): Promise<number> => scrubStore(context, options),
    // Puts right what the check finds, from the history and from the items. No other process may have the store open.
    async repair(): Promise<Repair> {
      store.clearDeadReaders();
      if (readOnly || store.hasOtherProcesses())
        throw new StoreError(`${path} is in use: stop the server first`);
      return repairStore(context, history);
    },
    // Resolves when the backfills and removals in progress are done.
    settled: jobs.settled,
    close,
  };
}

// Listeners for events of the other peers.
function createPeerListeners() {
  const onJoined = new Set<(id: string) => void>();
  const onGone = new Set<(id: string) => void>();
  const onMessage = new Map<string, (body: unknown, from: string) => void>();
  const add = (listeners: Set<(id: string) => void>, listener: (id: string) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    events: {
      joined(id: string): void {
        for (const listener of onJoined) listener(id);
      },
      gone(id: string): void {
        for (const listener of onGone) listener(id);
      },
      received: (topic: string, body: unknown, from: string): void => onMessage.get(topic)?.(body, from),
    },
    // Called with the id of every other peer that opens the store, or ends, from now on. Returns a function that stops
    // it.
    onJoined: (listener: (id: string) => void): (() => void) => add(onJoined, listener),
    onGone: (listener: (id: string) => void): (() => void) => add(onGone, listener),
    // Receives messages with this topic. One listener for each topic.
    onMessage: (topic: string, listener: (body: unknown, from: string) => void): void =>
      void onMessage.set(topic, listener),
  };
}

const journalOf = ({ submit }: Context, journal: Journal | undefined) => ({
  // The newest durable commit of any process; undefined if no backup has begun.
  position: async (): Promise<JournalPosition | undefined> => journal?.position(),
  // Starts a history: everything from the next commit on can be shipped. Also after a gap.
  begin: ({ limitBytes }: { limitBytes: number }): Promise<JournalPosition> =>
    journal
      ? submit(tx => journal.begin(tx, limitBytes))
      : Promise.reject(new StoreError('a store in memory has no journal')),
  // How far a backup may be behind before it has to start again.
  setLimit: (limitBytes: number): Promise<void> => submit(tx => journal?.setLimit(tx, limitBytes)),
  // Puts the store itself on the disk, and uses the files of the journal before that again. This happens by itself every
  // few seconds.
  checkpoint: async (): Promise<void> => journal?.checkpoint(),
  end: (): Promise<void> => submit(tx => journal?.end(tx)), // no backup is made any more
});

const writePauseOf = (
  store: Store,
  pause: ReturnType<typeof createWritePause>,
  whilePaused: (work: (tx: Tx) => void) => Promise<void>,
) => ({
  read(): WritePause | undefined {
    store.refresh();
    return pause.read();
  },
  // From this commit on, writes of all processes are refused with a ThrottlingException, for that long.
  start: (by: string, forMs: number): Promise<void> => whilePaused(tx => pause.start(tx, by, forMs)),
  end: (by: string): Promise<void> => whilePaused(tx => pause.end(tx, by)),
  // Makes the pause permanent, with a StoreMovedException. Fails if the pause has expired, because others may have
  // written since.
  makeFinal: (by: string, note: unknown): Promise<void> => whilePaused(tx => pause.makeFinal(tx, by, note)),
});
