import {
  type AnyEntity,
  type Attributes,
  hasKeyOf,
  type ItemOf,
  itemBytes,
  type Recognised,
  recognise,
  untagItem,
} from '@stak/table';
import { PermanentError } from '../errors.ts';
import { embedded, type StreamRecord } from './source.ts';

// A stream record as handlers see it: which entity changed, and the item before and after.

type Event = {
  // The keys as stored, for any entity. Other consumers get the same object.
  keys: Readonly<Attributes>;
  sequence: string;
  eventId: string;
  // When the item changed, to the second.
  at: Date;
  // The sizes of the images as DynamoDB measures items; 0 if there is no image.
  oldBytes: number;
  newBytes: number;
};
type Images<Item> =
  | { kind: 'insert'; old: undefined; new: Item }
  | { kind: 'modify'; old: Item; new: Item }
  // 'expire' is a removal by time to live.
  | { kind: 'remove' | 'expire'; old: Item; new: undefined };
/** `insert`, `modify`, `remove`, or `expire` for a removal by time to live. */
export type ChangeKind = Images<unknown>['kind'];

/** A change of one of the entities, with the item before and after it. */
export type ChangeOf<E extends AnyEntity> = E extends AnyEntity
  ? Event & Images<ItemOf<E>> & Pick<Recognised<E>, 'entity'>
  : never;
/** A change of an item that is none of the consumer's entities. Images that the stream does not carry are absent. */
export type UnknownChange = Event & {
  entity: undefined;
  kind: ChangeKind;
  old: Attributes | undefined;
  new: Attributes | undefined;
};
/** A change of one of the entities, or of anything else in the table. */
export type Change<E extends AnyEntity> = ChangeOf<E> | UnknownChange;

/** The attribute of an item that was imported from another server, where its effects have already happened. */
export const importedAt = 'imported_at';

/** Whether an item was imported from another server, where its effects have already happened. */
export const isImported = (item: object): boolean => importedAt in item;

// Retrying would not help.
class RecordError extends PermanentError {
  override readonly name = 'RecordError';
}

export function readChange<E extends AnyEntity>(entities: readonly E[], record: StreamRecord): Change<E> {
  return new RecordChange(entities, record) as unknown as Change<E>;
}

// A class for its getters: creating them for each change would cost more than most handlers do.
class RecordChange {
  readonly kind: ChangeKind;
  readonly #entities: readonly AnyEntity[];
  readonly #record: StreamRecord;
  #keys: Readonly<Attributes> | undefined;
  #sequence: string | undefined;
  #images: ReturnType<typeof readImages> | undefined;

  constructor(entities: readonly AnyEntity[], record: StreamRecord) {
    if (!isWhole(record)) throw new RecordError('a stream record without its keys');
    this.kind = kindOf(record);
    this.#entities = entities;
    this.#record = record;
  }

  static continues(before: unknown, after: unknown): boolean {
    if (!(before instanceof RecordChange && after instanceof RecordChange)) return false;
    const left = before.#record.dynamodb?.[embedded]?.stored('new');
    const image = after.#record.dynamodb?.[embedded]?.stored('old');
    return left !== undefined && image !== undefined && Buffer.compare(left, image) === 0;
  }

  static image(change: Change<AnyEntity>, which: 'new' | 'old'): Attributes | undefined {
    return change instanceof RecordChange ? imageOf(change.#record, which) : change[which];
  }

  static json(change: Change<AnyEntity>, which: 'new' | 'old'): string | undefined {
    return change instanceof RecordChange ? change.#record.dynamodb?.[embedded]?.json(which) : undefined;
  }

  get keys(): Readonly<Attributes> {
    this.#keys ??= keysOf(this.#record)!;
    return this.#keys;
  }

  get sequence(): string {
    this.#sequence ??= this.#record.dynamodb!.SequenceNumber!;
    return this.#sequence;
  }

  get eventId(): string {
    return this.#record.eventID!;
  }

  // Images are decoded when they are first used: most handlers ignore much of what a table writes.
  get #read() {
    this.#images ??= readImages(this.#entities, this.#record);
    return this.#images;
  }

  get entity() {
    return this.#entities.length === 0 ? undefined : this.#read.entity;
  }

  get old() {
    return this.#read.old;
  }

  get new() {
    return this.#read.new;
  }

  get at(): Date {
    return new Date(secondsOf(this.#record.dynamodb?.ApproximateCreationDateTime) * 1000);
  }

  get oldBytes(): number {
    return bytesOf(this.#record, 'old');
  }

  get newBytes(): number {
    return bytesOf(this.#record, 'new');
  }
}

/**
 * Whether the image that a change left is, byte for byte, the one that a later change of the same item found. What was
 * computed from it is then still valid. False if the store does not tell.
 */
export const continues = (before: Change<AnyEntity>, after: Change<AnyEntity>): boolean =>
  RecordChange.continues(before, after);

/**
 * An image as it is stored, which the change does not keep: for handlers of large batches that use each image once. The
 * members `old` and `new` keep theirs until the whole batch is handled.
 *
 *     for (const change of changes) write(readImage(change, 'new'));
 */
export const readImage = (change: Change<AnyEntity>, which: 'new' | 'old'): Attributes | undefined =>
  RecordChange.image(change, which);

/** An image as JSON, as it is stored; undefined if the store has no JSON of it. */
export const readImageJson = (change: Change<AnyEntity>, which: 'new' | 'old'): string | undefined =>
  RecordChange.json(change, which);

// A record of the embedded engine always is.
const isWhole = ({ dynamodb, eventID }: StreamRecord): boolean =>
  dynamodb?.[embedded] !== undefined || Boolean(dynamodb?.Keys && dynamodb.SequenceNumber && eventID);

function keysOf({ dynamodb }: StreamRecord): Readonly<Attributes> | undefined {
  return dynamodb?.[embedded]?.keys() ?? (dynamodb?.Keys && untagItem(dynamodb.Keys));
}

function imageOf({ dynamodb }: StreamRecord, which: 'new' | 'old'): Attributes | undefined {
  if (dynamodb?.[embedded]) return dynamodb[embedded].image(which);
  const image = which === 'new' ? dynamodb?.NewImage : dynamodb?.OldImage;
  return image && untagItem(image);
}

function bytesOf(record: StreamRecord, which: 'new' | 'old'): number {
  const known = record.dynamodb?.[embedded];
  if (known) return known.bytes(which);
  const image = imageOf(record, which);
  return image ? itemBytes(image) : 0;
}

function readImages(entities: readonly AnyEntity[], record: StreamRecord) {
  const before = imageOf(record, 'old');
  const after = imageOf(record, 'new');
  return recogniseBoth(entities, before, after) ?? { entity: undefined, old: before, new: after };
}

// Whether the keys can belong to one of the entities. If not, the record need not be decoded.
export function mayBeOf(entities: readonly AnyEntity[], record: StreamRecord): boolean {
  const keys = keysOf(record);
  return !keys || entities.some(entity => hasKeyOf(entity, keys));
}

// If an item is replaced by one of another entity under the same key, it is a change of neither.
function recogniseBoth(entities: readonly AnyEntity[], before?: Attributes, after?: Attributes) {
  const old = before && recognise(entities, before);
  const current = after && recognise(entities, after);
  if (!old && !current) return undefined;
  if (before && after && old?.entity !== current?.entity) return undefined;
  return { entity: (current ?? old)!.entity, old: old?.item, new: current?.item };
}

function kindOf(record: StreamRecord): ChangeKind {
  switch (record.eventName) {
    case 'INSERT':
      return 'insert';
    case 'MODIFY':
      return 'modify';
    case 'REMOVE':
      return isByService(record.userIdentity) ? 'expire' : 'remove';
    default:
      throw new RecordError(`a stream record of an unknown event ${record.eventName}`);
  }
}

const isByService = (identity: StreamRecord['userIdentity']): boolean =>
  (identity?.Type ?? identity?.type) === 'Service' &&
  (identity?.PrincipalId ?? identity?.principalId) === 'dynamodb.amazonaws.com';

export const secondsOf = (moment: number | Date | undefined): number =>
  moment instanceof Date ? moment.getTime() / 1000 : (moment ?? 0);
