import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { streamBytes } from '../limits.ts';
import {
  type ChangeEvent,
  changeEvent,
  changePart,
  changePartSize,
  decodeChangeTime,
  isByTtl,
} from '../storage/change-log.ts';
import { decodeItem, decodeNative, plainJson } from '../storage/codec.ts';
import { type KeyRange, logKey, logSequence } from '../storage/keys.ts';
import { copyBytes } from '../storage/store.ts';
import type { Stream, StreamViewType } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import type { NativeItem } from '../values/marshal.ts';
import { sequenceText } from './names.ts';
import type { Entry } from './recent-records.ts';

// The change log as the Streams API returns it.

// Gives a reader in this process what AWS does not have, so it is a symbol: JavaScript values, without the types of the
// wire, and the sizes of images that are not decoded.
const embedded = Symbol.for('stak.embedded-record');

export type StreamRecord = {
  eventID: string;
  eventName: ChangeEvent;
  eventVersion: '1.1';
  eventSource: 'aws:dynamodb';
  awsRegion: string;
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: Item;
    NewImage?: Item;
    OldImage?: Item;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: StreamViewType;
  };
  userIdentity?: { Type: 'Service'; PrincipalId: 'dynamodb.amazonaws.com' };
};

// Sequences fit in six bytes; the largest is never assigned.
const lastSequence = 2 ** 48 - 1;

export const shardRange = (streamId: number, shardId: number, from = 0): KeyRange => ({
  start: logKey(streamId, shardId, from),
  end: logKey(streamId, shardId, lastSequence),
});

export type Page = { records: LazyRecord[]; position: number; exhausted: boolean };

// Reads from `position` on, and returns where to continue and whether there was more.
export function readRecords(
  context: Context,
  stream: Stream,
  shardId: number,
  position: number,
  limit: number,
): Page {
  const recent = context.recentRecords.of(stream.id, shardId);
  const known = recent.page(position, limit);
  const recordOf = (entry: Entry): LazyRecord => {
    entry.record ??= new LazyRecord(context, stream, entry);
    return entry.record;
  };
  const page: Page = {
    records: known.entries.map(recordOf),
    position: known.position,
    exhausted: !known.isFull,
  };
  if (known.isFull) return page;
  const range = shardRange(stream.id, shardId, known.position);
  const entries: Entry[] = [];
  let { bytes } = known;
  for (const { key, value: change } of context.store.range(range, copyBytes)) {
    const size = changeSize(change);
    // A page is never empty while there are records, however large the first one is.
    if (page.records.length === limit || (bytes > 0 && bytes + size > streamBytes)) {
      page.exhausted = false;
      break;
    }
    const entry: Entry = { sequence: logSequence(key), change, size };
    page.records.push(recordOf(entry));
    entries.push(entry);
    page.position = entry.sequence + 1;
    bytes += size;
  }
  recent.remember(known.position, entries);
  return page;
}

export const changeSize = (change: Buffer): number =>
  changePartSize(change, 'keys') + changePartSize(change, 'old') + changePartSize(change, 'new');

type Origin = Pick<Context, 'region'>;

// A record as a reader in this process gets it. Most readers need little of most records, and choose by the keys: the
// rest is made for those who ask. One object for the record and its part `dynamodb`, because a server holds thousands. A
// class for its getters: defining them for each record would cost more than the rest of it.
export class LazyRecord {
  readonly SizeBytes: number;
  readonly #origin: Origin;
  readonly #stream: Stream;
  readonly #sequence: number;
  readonly #change: Buffer;
  #keys: NativeItem | undefined;
  #sequenceText: string | undefined;

  constructor(origin: Origin, stream: Stream, { sequence, change, size, keys }: Entry) {
    this.SizeBytes = size;
    this.#origin = origin;
    this.#stream = stream;
    this.#sequence = sequence;
    this.#change = change;
    this.#keys = keys;
  }

  get eventID(): string {
    return eventId(this.#stream, this.#sequence);
  }

  get eventName(): ChangeEvent {
    return changeEvent(this.#change);
  }

  get userIdentity(): StreamRecord['userIdentity'] {
    return isByTtl(this.#change) ? service : undefined;
  }

  get dynamodb(): this {
    return this;
  }

  get ApproximateCreationDateTime(): number {
    return Math.floor(decodeChangeTime(this.#change) / 1000);
  }

  get SequenceNumber(): string {
    this.#sequenceText ??= sequenceText(this.#sequence);
    return this.#sequenceText;
  }

  get Keys(): Item {
    return decodeItem(changePart(this.#change, 'keys')!);
  }

  get NewImage(): Item | undefined {
    const bytes = changePart(this.#change, 'new');
    return bytes && decodeItem(bytes);
  }

  get OldImage(): Item | undefined {
    const bytes = changePart(this.#change, 'old');
    return bytes && decodeItem(bytes);
  }

  get [embedded](): this {
    return this;
  }

  keys(): NativeItem {
    this.#keys ??= decodeNative(changePart(this.#change, 'keys')!);
    return this.#keys;
  }

  image(which: 'new' | 'old'): NativeItem | undefined {
    const bytes = changePart(this.#change, which);
    return bytes && decodeNative(bytes);
  }

  // The image as JSON, if JSON can express it.
  json(which: 'new' | 'old'): string | undefined {
    const bytes = changePart(this.#change, which);
    return bytes && plainJson(bytes);
  }

  bytes(which: 'new' | 'old'): number {
    return changePartSize(this.#change, which);
  }

  // The image as it is stored, to be compared with another one.
  stored(which: 'new' | 'old'): Uint8Array | undefined {
    return changePart(this.#change, which);
  }

  toJSON(): StreamRecord {
    const { eventID, eventName, userIdentity, NewImage, OldImage } = this;
    return {
      eventID,
      eventName,
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: this.#origin.region,
      dynamodb: {
        ApproximateCreationDateTime: this.ApproximateCreationDateTime,
        SequenceNumber: this.SequenceNumber,
        SizeBytes: this.SizeBytes,
        StreamViewType: this.#stream.viewType,
        Keys: this.Keys,
        ...(NewImage && { NewImage }),
        ...(OldImage && { OldImage }),
      },
      ...(userIdentity && { userIdentity }),
    };
  }
}

const service = { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' } as const;

const sequenceDigits = 12; // six bytes
const idDigits = 32;
const idStarts = new WeakMap<Stream, string>();

// The same record always has the same id: consumers recognise repetitions by it.
function eventId(stream: Stream, sequence: number): string {
  let start = idStarts.get(stream);
  if (start === undefined) {
    const name = `${stream.id}/${stream.label}`;
    start = createHash('sha256')
      .update(name)
      .digest('hex')
      .slice(0, idDigits - sequenceDigits);
    idStarts.set(stream, start);
  }
  return start + sequence.toString(16).padStart(sequenceDigits, '0');
}
