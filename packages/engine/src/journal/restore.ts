import { readSequence, saveSequence } from '../storage/committer.ts';
import { StoreError, storeExists } from '../storage/file.ts';
import { metaKey } from '../storage/keys.ts';
import { claimFormat, openStore, readMeta, type Store } from '../storage/store.ts';
import { writePauseName } from '../storage/write-pause.ts';
import { type JournalPosition, ownNames, snapshotPositionName } from './position.ts';
import { JournalDamage, type Operation, readOperations, readRecord, recordHead } from './records.ts';

/** A store that is being restored: first a snapshot, then the commits after it. */
export type Restoring = {
  /** Operations of a snapshot. */
  load(operations: Buffer): Promise<void>;
  /** The snapshot is complete. Returns the position of the journal in it. */
  loaded(): Promise<JournalPosition>;
  /**
   * Applies commits of the journal, in order, up to a time. Commits that the snapshot contains are skipped. Returns the
   * last one applied, and whether there was one later than `untilMs`.
   */
  apply(
    records: Buffer,
    first: number,
    untilMs: number,
  ): Promise<{ commit: number; at: number; isPast: boolean }>;
  /** Makes it an independent store without a history, and closes it. */
  finish(): Promise<void>;
  /** The store as it is now, to be read. */
  opened(): Promise<Pick<Store, 'get' | 'range'>>;
  /** Closes it as it is. */
  abandon(): Promise<void>;
  path: string;
};

const bytesPerTransaction = 8 * 1024 * 1024;

// Stream readers outside the store, such as a lake, may have seen changes after the restored moment. New changes get
// numbers above all of those, or such a reader would take them for changes it has seen.
const sequenceStep = 2 ** 32;

// Facts that only the process that wrote them can use.
const positionKey = metaKey(snapshotPositionName);
const ownFacts = [
  ...ownNames,
  snapshotPositionName,
  'sweeper',
  'claims/backup',
  'claims/history',
  'claims/scrub',
  writePauseName,
];

function headOf(records: Buffer, offset: number): { length: number; commit: number } {
  const length = records.length - offset < recordHead ? 0 : records.readUInt32BE(offset);
  if (length < recordHead) throw new JournalDamage('commits are cut short');
  return { length, commit: records.readUIntBE(offset + 8, 6) };
}

function* operationsOf(parts: readonly Buffer[]): Generator<Operation> {
  for (const bytes of parts) yield* readOperations(bytes);
}

type RestoreOptions = {
  /** Which keys are wanted. By default all. */
  wants?(key: Buffer): boolean;
};

/** Creates a new store in a folder that contains none. */
export function restoreStore(path: string, { wants }: RestoreOptions = {}): Restoring {
  if (storeExists(path)) throw new StoreError(`${path} already holds a store: choose another folder`);
  const store = openStore(path);
  let end: { commit: number; at: number; chain: number } | undefined;
  // There are many small commits; here they need not reach the disk one by one.
  let waiting: Buffer[] = [];
  let waitingBytes = 0;

  async function write(operations: Buffer): Promise<void> {
    waiting.push(operations);
    waitingBytes += operations.length;
    if (waitingBytes >= bytesPerTransaction) await flush();
  }

  async function flush(): Promise<void> {
    const operations = operationsOf(waiting);
    let next = operations.next();
    // Several transactions if the disk is short of space.
    while (!next.done)
      await store.commit(() => {
        do {
          const { key, value } = next.value as Operation;
          if (!wants || wants(key) || key.equals(positionKey)) {
            if (value) store.put(key, value);
            else store.remove(key);
          }
          next = operations.next();
        } while (!next.done && store.hasRoom());
      });
    waiting = [];
    waitingBytes = 0;
  }

  async function apply(records: Buffer, first: number, untilMs: number) {
    if (!end) throw new StoreError('the snapshot is not complete');
    let isPast = false;
    for (let offset = 0; offset < records.length && !isPast; ) {
      const { length, commit } = headOf(records, offset);
      if (offset === 0 && commit !== first) throw new JournalDamage(`commit ${first} is missing`);
      if (commit <= end.commit) {
        offset += length;
        continue;
      }
      const record = readRecord(records, offset, end);
      if (!record) throw new JournalDamage(`commit ${end.commit + 1} is cut short`);
      isPast = record.at > untilMs;
      if (isPast) break;
      offset += length;
      end = record;
      await write(record.operations);
    }
    return { commit: end.commit, at: end.at, isPast };
  }

  return {
    load: write,
    async loaded() {
      await flush();
      store.refresh();
      const position = readMeta<JournalPosition>(store, snapshotPositionName);
      if (!position) throw new StoreError('the snapshot says nothing of a journal');
      end = position;
      return position;
    },
    apply,
    async finish() {
      await flush();
      store.refresh();
      if (readMeta(store, 'format') === undefined) throw new StoreError('the restored files are not a store');
      await claimFormat(store, { mayWrite: true, isServed: async () => false });
      await store.commit(() => {
        for (const name of ownFacts) store.remove(metaKey(name));
        saveSequence(store, readSequence(store) + sequenceStep);
      });
      await store.close();
    },
    async opened() {
      await flush();
      store.refresh();
      return store;
    },
    abandon: () => store.close(),
    path,
  };
}
