import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { streamBytes } from '../limits.ts';
import { type ChangeEvent, type ChangeRecord, viewChange } from '../storage/change-log.ts';
import { decodeItem, decodeNative, decodeSize } from '../storage/codec.ts';
import { type KeyRange, logKey, logSequence } from '../storage/keys.ts';
import { copyBytes } from '../storage/store.ts';
import type { Stream, StreamViewType } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import type { NativeItem } from '../values/marshal.ts';
import { sequenceText } from './names.ts';
import { createRecent, type Entry, type Recent } from './recent-records.ts';

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

// Reads from `position` on, and returns where to continue and whether there was more. Most readers of a shard are near
// its end: what one of them has read from the log, the others get from memory.
export function readRecords(
  context: Context,
  stream: Stream,
  shardId: number,
  position: number,
  limit: number,
): Page {
  const recent = recentOf(stream, shardId);
  const known = recent.page(position, limit);
  const page: Page = { records: known.records, position: known.position, exhausted: !known.isFull };
  if (known.isFull) return page;
  const range = shardRange(stream.id, shardId, known.position);
  const entries: Entry[] = [];
  let { bytes } = known;
  for (const { key, value } of context.store.range(range, copyBytes)) {
    const change = viewChange(value);
    const size = sizeOf(change);
    // A page is never empty while there are records, however large the first one is.
    if (page.records.length === limit || (bytes > 0 && bytes + size > streamBytes)) {
      page.exhausted = false;
      break;
    }
    const sequence = logSequence(key);
    const record = new LazyRecord(context, stream, sequence, change, size);
    page.records.push(record);
    entries.push({ sequence, record, size });
    page.position = sequence + 1;
    bytes += size;
  }
  recent.remember(known.position, entries);
  return page;
}

const recents = new WeakMap<Stream, Map<number, Recent>>();

function recentOf(stream: Stream, shardId: number): Recent {
  let shards = recents.get(stream);
  if (!shards) {
    shards = new Map();
    recents.set(stream, shards);
  }
  let recent = shards.get(shardId);
  if (!recent) {
    recent = createRecent();
    shards.set(shardId, recent);
  }
  return recent;
}

const sizeOf = (record: ChangeRecord): number =>
  decodeSize(record.keys) +
  (record.old ? decodeSize(record.old) : 0) +
  (record.new ? decodeSize(record.new) : 0);

type Origin = Pick<Context, 'region'>;

// A record as a reader in this process gets it. Most readers need little of most records, and choose by the keys: the
// rest is made for those who ask. Classes for their getters: defining them for each record would cost more than the rest
// of it.
export class LazyRecord {
  readonly dynamodb: LazyImages;
  readonly #origin: Origin;
  readonly #stream: Stream;
  readonly #sequence: number;
  readonly #change: ChangeRecord;

  constructor(origin: Origin, stream: Stream, sequence: number, change: ChangeRecord, size: number) {
    this.dynamodb = new LazyImages(stream, sequence, change, size);
    this.#origin = origin;
    this.#stream = stream;
    this.#sequence = sequence;
    this.#change = change;
  }

  get eventID(): string {
    return eventId(this.#stream, this.#sequence);
  }

  get eventName(): ChangeEvent {
    return this.#change.event;
  }

  get userIdentity(): StreamRecord['userIdentity'] {
    return this.#change.actor === 'ttl' ? service : undefined;
  }

  toJSON(): StreamRecord {
    const { eventID, eventName, userIdentity } = this;
    return {
      eventID,
      eventName,
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: this.#origin.region,
      dynamodb: this.dynamodb.toJSON(),
      ...(userIdentity && { userIdentity }),
    };
  }
}

const service = { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' } as const;

class LazyImages {
  readonly SizeBytes: number;
  readonly #stream: Stream;
  readonly #sequence: number;
  readonly #change: ChangeRecord;
  #text: string | undefined;
  #keys: NativeItem | undefined;

  constructor(stream: Stream, sequence: number, change: ChangeRecord, size: number) {
    this.SizeBytes = size;
    this.#stream = stream;
    this.#sequence = sequence;
    this.#change = change;
  }

  get ApproximateCreationDateTime(): number {
    return Math.floor(this.#change.at / 1000);
  }

  get SequenceNumber(): string {
    this.#text ??= sequenceText(this.#sequence);
    return this.#text;
  }

  get Keys(): Item {
    return decodeItem(this.#change.keys);
  }

  get NewImage(): Item | undefined {
    return this.#change.new && decodeItem(this.#change.new);
  }

  get OldImage(): Item | undefined {
    return this.#change.old && decodeItem(this.#change.old);
  }

  get [embedded]() {
    return this;
  }

  keys(): NativeItem {
    this.#keys ??= decodeNative(this.#change.keys);
    return this.#keys;
  }

  image(which: 'new' | 'old'): NativeItem | undefined {
    const bytes = this.#change[which];
    return bytes && decodeNative(bytes);
  }

  bytes(which: 'new' | 'old'): number {
    const bytes = this.#change[which];
    return bytes ? decodeSize(bytes) : 0;
  }

  // The image as it is stored, to be compared with another one.
  stored(which: 'new' | 'old'): Uint8Array | undefined {
    return this.#change[which];
  }

  toJSON(): StreamRecord['dynamodb'] {
    const { ApproximateCreationDateTime, Keys, NewImage, OldImage, SequenceNumber, SizeBytes } = this;
    return {
      ApproximateCreationDateTime,
      SequenceNumber,
      SizeBytes,
      StreamViewType: this.#stream.viewType,
      Keys,
      ...(NewImage && { NewImage }),
      ...(OldImage && { OldImage }),
    };
  }
}

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
