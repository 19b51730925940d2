import { decodeSizeAt } from './codec.ts';

export type Actor = 'user' | 'ttl';

// A stored change record: event, actor, time, then the keys and images as they are stored with the item.

export type ChangeEvent = 'INSERT' | 'MODIFY' | 'REMOVE';
export type ChangeRecord = {
  event: ChangeEvent;
  actor: Actor;
  at: number;
  keys: Buffer;
  old?: Buffer;
  new?: Buffer;
};

const events: ChangeEvent[] = ['INSERT', 'MODIFY', 'REMOVE'];
const headBytes = 18;

export function encodeChange({ event, actor, at, keys, old, new: next }: ChangeRecord): Buffer {
  const oldBytes = old?.length ?? 0;
  const out = Buffer.allocUnsafe(headBytes + keys.length + oldBytes + (next?.length ?? 0));
  out[0] = events.indexOf(event);
  out[1] = actor === 'ttl' ? 1 : 0;
  out.writeDoubleBE(at, 2);
  out.writeUInt32BE(keys.length, 10);
  out.writeUInt32BE(oldBytes, 14);
  keys.copy(out, headBytes);
  old?.copy(out, headBytes + keys.length);
  next?.copy(out, headBytes + keys.length + oldBytes);
  return out;
}

export function decodeChange(bytes: Buffer, end = bytes.length): ChangeRecord {
  const keysEnd = headBytes + bytes.readUInt32BE(10);
  const oldEnd = keysEnd + bytes.readUInt32BE(14);
  const part = (from: number, to: number) => (to > from ? Buffer.from(bytes.subarray(from, to)) : undefined);
  return {
    event: events[bytes[0]!]!,
    actor: bytes[1] === 1 ? 'ttl' : 'user',
    at: bytes.readDoubleBE(2),
    keys: part(headBytes, keysEnd)!,
    old: part(keysEnd, oldEnd),
    new: part(oldEnd, end),
  };
}

// Parts of a stored record, for readers that need few of them. `bytes` is the record alone, and must not be reused.
export type ChangePart = 'keys' | 'old' | 'new';
export const changeEvent = (bytes: Buffer): ChangeEvent => events[bytes[0]!]!;
export const isByTtl = (bytes: Buffer): boolean => bytes[1] === 1;

export function changePart(bytes: Buffer, part: ChangePart): Buffer | undefined {
  const start = startOf(bytes, part);
  const end = endOf(bytes, part);
  return end > start ? bytes.subarray(start, end) : undefined;
}

// The size of the keys or an image as DynamoDB measures items.
export function changePartSize(bytes: Buffer, part: ChangePart): number {
  const start = startOf(bytes, part);
  return endOf(bytes, part) > start ? decodeSizeAt(bytes, start) : 0;
}

const startOf = (bytes: Buffer, part: ChangePart): number =>
  part === 'keys' ? headBytes : endOf(bytes, part === 'old' ? 'keys' : 'old');

function endOf(bytes: Buffer, part: ChangePart): number {
  if (part === 'new') return bytes.length;
  const keysEnd = headBytes + bytes.readUInt32BE(10);
  return part === 'keys' ? keysEnd : keysEnd + bytes.readUInt32BE(14);
}

export const decodeChangeTime = (bytes: Buffer): number => bytes.readDoubleBE(2);
