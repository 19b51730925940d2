import { DynamoError, internalError, storeFull } from '../errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { NativeItem } from '../values/marshal.ts';
import { logKey, metaKey, sizeKey } from './keys.ts';
import type { Decode, Store } from './store.ts';
import type { StreamChanges } from './stream-changes.ts';

// Group commit. Work that arrives while the journal is being flushed waits and shares the next transaction: under load
// one flush acknowledges many writes, and without load a write does not wait. A piece of work decides first and writes
// afterwards; an error it throws before its first write rejects only its own caller.

export type Tx = {
  put(key: Buffer, value: Buffer): void;
  remove(key: Buffer): void;
  // Sees what this transaction has written so far.
  has(key: Buffer): boolean;
  get<T>(key: Buffer, as: Decode<T>): T | undefined;
  // Adds a change record to a shard of a stream. Readers in this process get the keys, if they are given, as they are.
  append(streamId: number, shardId: number, change: Buffer, keys?: NativeItem): void;
  // For a change of the streams themselves, such as a new shard: every reader has to look.
  nextSequenceForAll(): number;
  // A partition of a vector index has changed so much that somebody should look at it.
  noteVectors(partition: VectorPartition): void;
  // Item count and bytes of a table or index, written once a transaction.
  addSize(id: number, items: number, bytes: number): void;
};

export type VectorPartition = { tableId: number; indexId: number; partition: Buffer };

export type Size = { items: number; bytes: number };

type Job = {
  work(tx: Tx): unknown;
  resolve(value: never): void;
  reject(error: unknown): void;
  isExempt: boolean; // from the refusal of a transaction
  mayWait: boolean;
};

export type SubmitOptions = {
  isExempt?: boolean;
  // Nobody waits for this work: it may wait for the commit of something else, for a moment.
  mayWait?: boolean;
};

// Limits how long one transaction blocks this thread and other processes, and how much memory it takes.
const jobsPerTransaction = 512;
const bytesPerTransaction = 8 * 1024 * 1024;

// A commit costs about as much as a few writes. At a few writes a second, each would make a commit of its own.
const waitMs = 20;
const waitingMost = 8; // as many are worth a commit of their own

const sequenceKey = metaKey('sequence');
const decodeSequence = (bytes: Buffer): number => bytes.readDoubleBE(0);
const decodeSizes = (bytes: Buffer): Size => ({ items: bytes.readDoubleBE(0), bytes: bytes.readDoubleBE(8) });

export const encodeSizes = ({ items, bytes }: Size): Buffer => doubles(items, bytes);

export const readSize = (store: Store, id: number): Size =>
  store.get(sizeKey(id), decodeSizes) ?? { items: 0, bytes: 0 };

// The newest sequence number assigned.
export const readSequence = (store: Store): number => store.get(sequenceKey, decodeSequence) ?? 0;

export const saveSequence = (store: Store, sequence: number): void =>
  store.put(sequenceKey, doubles(sequence));

// The change records of a commit, in order. `first` is the sequence of the first one; a commit of another process may
// have been made between the one before and this.
export type Appended = { first: number; records: readonly AppendedRecord[]; last: number };
type AppendedRecord = {
  streamId: number;
  shardId: number;
  sequence: number;
  change: Buffer;
  keys?: NativeItem | undefined;
};

export type CommitListener = {
  committed(
    changes: StreamChanges,
    appended: Appended | undefined,
    vectors: readonly VectorPartition[],
  ): void;
  aborted(): void;
};
export type CommitterOptions = {
  journal?: Pick<Journal, 'prepare' | 'beginTx' | 'flushesTree' | 'flushed'> | undefined;
  refusal?(tx: Tx): DynamoError | undefined; // why this transaction must not write
};

export function createCommitter(
  store: Store,
  listener: CommitListener,
  { journal, refusal }: CommitterOptions = {},
) {
  const queue: Job[] = [];
  let running: Promise<void> | undefined;
  let closed = false;
  let pressing = 0; // pieces of work in the queue that may not wait
  let endWait: (() => void) | undefined;

  function submit<T>(
    work: (tx: Tx) => T,
    { isExempt = false, mayWait = false }: SubmitOptions = {},
  ): Promise<T> {
    if (closed) return Promise.reject(internalError('the engine is closed'));
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve, reject, isExempt, mayWait });
      if (!mayWait) pressing += 1;
      if (mustCommit()) endWait?.();
      running ??= drain();
    });
  }

  // Without a journal a commit costs little.
  const mustCommit = (): boolean => pressing > 0 || queue.length >= waitingMost || closed || !journal;

  function take(): Job {
    const job = queue.shift()!;
    if (!job.mayWait) pressing -= 1;
    return job;
  }

  function waitForOthers(): Promise<void> {
    return new Promise(resolve => {
      endWait = () => {
        clearTimeout(timer);
        endWait = undefined;
        resolve();
      };
      const timer = setTimeout(() => endWait?.(), waitMs);
    });
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      if (!mustCommit()) await waitForOthers();
      // Lets requests from callers that just got a response, or that were read from a socket in this turn, join the
      // batch.
      await new Promise(setImmediate);
      await commitBatch();
    }
    // In the same turn as the check of the queue, or work that arrives in between would wait for ever.
    running = undefined;
  }

  async function commitBatch(): Promise<void> {
    const settle: (() => void)[] = [];
    const batch: Job[] = [];
    let changes: StreamChanges;
    let appended: Appended | undefined;
    let vectors: readonly VectorPartition[] = [];
    let isCommitted = false;
    try {
      const preparing = journal?.prepare();
      if (preparing) await preparing;
      const flush = journal?.flushesTree() ?? true;
      store.write(
        () => {
          const tx = createTx(store, journal);
          const refused = refusal?.(tx);
          const isOpen = () =>
            batch.length < jobsPerTransaction && tx.bytes() < bytesPerTransaction && store.hasRoom();
          while (queue.length > 0 && (batch.length === 0 || isOpen())) {
            const job = take();
            batch.push(job);
            settle.push(refused && !job.isExempt ? () => job.reject(refused) : runJob(tx, job));
          }
          tx.finish();
          changes = tx.streamChanges();
          appended = tx.appended();
          vectors = tx.notedVectors();
        },
        { flush },
      );
      isCommitted = true;
      // Also if nothing was written: the answers may show what the work has read, so that must be durable first.
      await journal?.flushed();
    } catch (error) {
      // The transaction was rolled back, or may not survive, so none of its callers may get a success.
      listener.aborted();
      const failure = error instanceof DynamoError ? error : failureOf(error, isCommitted);
      // If the transaction could not even begin, everything in the queue fails.
      if (batch.length === 0) while (queue.length > 0) batch.push(take());
      for (const job of batch) job.reject(failure);
      return;
    }
    for (const answer of settle) answer();
    listener.committed(changes, appended, vectors);
  }

  async function close(): Promise<void> {
    closed = true;
    endWait?.();
    await running;
  }

  return { submit, close };
}

function runJob(tx: ReturnType<typeof createTx>, job: Job): () => void {
  const before = tx.writes();
  try {
    const value = job.work(tx);
    return () => job.resolve(value as never);
  } catch (error) {
    if (tx.writes() !== before) throw error;
    return () => job.reject(error);
  }
}

function createTx(store: Store, journal: Pick<Journal, 'beginTx'> | undefined) {
  const record = journal?.beginTx();
  let writes = 0;
  let bytes = 0;
  let sequence = -1;
  let first = -1;
  const records: AppendedRecord[] = [];
  const vectors: VectorPartition[] = [];
  const changes = new Map<number, number>();
  let hasChangedAny = false;
  const sizes = new Map<number, Size>();

  function put(key: Buffer, value: Buffer): void {
    store.put(key, value);
    record?.put(key, value);
  }

  function advance(): number {
    if (sequence < 0) {
      sequence = readSequence(store);
      first = sequence + 1;
    }
    sequence += 1;
    return sequence;
  }

  function write(key: Buffer, value: Buffer): void {
    writes++;
    bytes += key.length + value.length;
    put(key, value);
  }

  return {
    put: write,
    remove(key: Buffer) {
      writes++;
      store.remove(key);
      record?.remove(key);
    },
    has: store.has,
    get: store.get,
    append(streamId: number, shardId: number, change: Buffer, keys?: NativeItem) {
      const sequence = advance();
      changes.set(streamId, sequence);
      records.push({ streamId, shardId, sequence, change, keys });
      write(logKey(streamId, shardId, sequence), change);
    },
    nextSequenceForAll() {
      hasChangedAny = true;
      return advance();
    },
    noteVectors(partition: VectorPartition) {
      vectors.push(partition);
    },
    notedVectors: () => vectors,
    appended: (): Appended | undefined => (first < 0 ? undefined : { first, records, last: sequence }),
    streamChanges: (): StreamChanges => (hasChangedAny ? undefined : changes),
    addSize(id: number, items: number, bytes: number) {
      const size = sizes.get(id);
      if (!size) sizes.set(id, { items, bytes });
      else {
        size.items += items;
        size.bytes += bytes;
      }
    },
    writes: () => writes,
    bytes: () => bytes,
    finish() {
      if (sequence >= 0) put(sequenceKey, doubles(sequence));
      for (const [id, delta] of sizes) {
        if (delta.items === 0 && delta.bytes === 0) continue;
        const size = readSize(store, id);
        put(sizeKey(id), doubles(size.items + delta.items, size.bytes + delta.bytes));
      }
      record?.finish();
    },
  };
}

function doubles(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 8);
  for (let i = 0; i < values.length; i++) bytes.writeDoubleBE(values[i]!, i * 8);
  return bytes;
}

function failureOf(error: unknown, isCommitted: boolean): DynamoError {
  const text = `the write was not stored: ${error instanceof Error ? error.message : String(error)}`;
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
  return isFull && !isCommitted ? storeFull(text) : internalError(text);
}
