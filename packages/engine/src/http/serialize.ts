import { newItem } from '../values/attribute-value.ts';

// An operation's output as JSON: binary becomes base64. Values without binary are returned as they are, so most
// responses are not copied.
export function serialize(output: object): object {
  return toJson(output) as object;
}

function toJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  return Array.isArray(value) ? listToJson(value) : recordToJson(value as Record<string, unknown>);
}

function listToJson(list: unknown[]): unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const json = toJson(list[i]);
    if (json === list[i]) continue;
    copy ??= list.slice();
    copy[i] = json;
  }
  return copy ?? list;
}

function recordToJson(record: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in record) {
    const json = toJson(record[name]);
    if (json === record[name]) continue;
    copy ??= copyRecord(record);
    copy[name] = json;
  }
  return copy ?? record;
}

function copyRecord(record: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = newItem();
  for (const name in record) copy[name] = record[name];
  return copy;
}
