import { embedded, type Image, type StreamRecord } from './source.ts';

// Records as JSON, as in a Lambda event: binary values as base64, times in seconds. Dead letters are stored in this
// form, and Lambda delivers it.

export function recordToJson(record: StreamRecord): string {
  return JSON.stringify(record, function (this: Record<string, unknown>, key, value: unknown) {
    // `JSON.stringify` has already converted buffers and dates in `value`.
    const original = this[key];
    if (original instanceof Uint8Array) return Buffer.from(original).toString('base64');
    return original instanceof Date ? original.getTime() / 1000 : value;
  });
}

export function recordFromJson(record: StreamRecord): StreamRecord {
  const { dynamodb } = record;
  // A record of the embedded engine was never JSON.
  if (!dynamodb || dynamodb[embedded]) return record;
  const { Keys, NewImage, OldImage } = dynamodb;
  return {
    ...record,
    dynamodb: {
      ...dynamodb,
      ...(Keys && { Keys: withBytes(Keys) }),
      ...(NewImage && { NewImage: withBytes(NewImage) }),
      ...(OldImage && { OldImage: withBytes(OldImage) }),
    },
  };
}

const withBytes = (image: Image): Image => bytesIn(image) as Image;

// An attribute may itself be called B, so the walk must know whether it is at names or at a type.
function bytesIn(names: object): object {
  return Object.fromEntries(Object.entries(names).map(([name, value]) => [name, bytesOf(value)]));
}

function bytesOf(value: object): object {
  if ('B' in value) return { B: decode(value.B) };
  if ('BS' in value) return { BS: (value.BS as unknown[]).map(decode) };
  if ('M' in value) return { M: bytesIn(value.M as object) };
  if ('L' in value) return { L: (value.L as object[]).map(bytesOf) };
  return value;
}

const decode = (content: unknown): unknown =>
  typeof content === 'string' ? new Uint8Array(Buffer.from(content, 'base64')) : content;
