import { type AnyEntity, type AnyTable, type Attributes, entityOf, isExpired, piecesOf } from '@stak/table';
import { conceal, concealUnknownKey, isSecretName, mask } from './concealment.ts';
import * as limits from './limits.ts';
import type { AttributeView, ItemView, KeyView } from './schema.ts';

type Options = { nowMs: number; index?: string; valueChars?: number };

// A stored item for display: its entity, its keys split into parts, its attributes with their types.
export function viewItem(table: AnyTable, stored: Attributes, options: Options): ItemView {
  const { nowMs, index, valueChars = limits.valueChars } = options;
  const entity = entityOf(table, stored, index);
  const expires: unknown = table.ttl === undefined ? undefined : stored[table.ttl];
  return {
    entity: entity?.name ?? null,
    keys: viewKeys(table, entity, stored),
    // A year that a date cannot hold is a mistake in the data, and shown as a number.
    expires_at: isMoment(expires) ? new Date(expires * 1000).toISOString() : null,
    is_expired: entity !== undefined && isExpired(entity, stored, nowMs),
    attributes: namesOf(table, entity, stored).map(name => viewAttribute(name, stored[name], valueChars)),
  };
}

const isMoment = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) < 8.64e12;

function viewKeys(table: AnyTable, entity: AnyEntity | undefined, stored: Attributes): KeyView[] {
  const keys: { index: string | null; partition: string; sort?: string }[] = [
    { index: null, ...table.keys },
    ...Object.entries(table.indexes).map(([index, { partition, sort }]) => ({ index, partition, sort })),
  ];
  return keys.flatMap(({ index, partition, sort }) => {
    const own = index === null ? entity?.key : entity?.indexes.find(one => one.name === index);
    return (
      [
        ['partition', partition, own?.templates.partition],
        ['sort', sort, own?.templates.sort],
      ] as const
    ).flatMap(([role, attribute, template]): KeyView[] => {
      const value: unknown = attribute === undefined ? undefined : stored[attribute];
      if (attribute === undefined || typeof value !== 'string') return [];
      const pieces = template && piecesOf(template, value);
      return [{ attribute, role, index, ...(pieces ? viewPieces(pieces) : viewUnknown(value)) }];
    });
  });
}

function viewPieces(pieces: NonNullable<ReturnType<typeof piecesOf>>) {
  const shown = pieces.map(({ text, param = null }) => ({
    text: param !== null && isSecretName(param) ? mask : text,
    param,
  }));
  const text = shown.map(piece => piece.text).join('');
  return { text, pieces: shown, is_masked: text !== pieces.map(piece => piece.text).join('') };
}

function viewUnknown(value: string) {
  const text = concealUnknownKey(value);
  return { text, pieces: [{ text, param: null }], is_masked: text !== value };
}

// In the order of the design, then all others.
function namesOf({ keyNames }: AnyTable, entity: AnyEntity | undefined, stored: Attributes): string[] {
  const designed = Object.keys(entity?.schema.shape ?? {}).filter(name => Object.hasOwn(stored, name));
  const others = Object.keys(stored).filter(name => !keyNames.has(name) && !designed.includes(name));
  return [...designed, ...others.sort()];
}

export function viewAttribute(name: string, stored: unknown, valueChars: number): AttributeView {
  const { value, note } = conceal(name, stored);
  const type = typeOf(stored);
  const plain = plainOf(value);
  const text = typeof plain === 'string' ? plain : JSON.stringify(plain);
  if (text.length <= valueChars) return { name, type, value: plain, note };
  return { name, type, value: `${text.slice(0, valueChars)}…`, note: note ?? 'cut' };
}

// DynamoDB's type letters.
function typeOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return 'B';
  if (Array.isArray(value)) return 'L';
  if (value instanceof Set) {
    const [first] = value;
    return `${typeOf(first)}S`;
  }
  return { string: 'S', number: 'N', bigint: 'N', boolean: 'BOOL' }[typeof value as string] ?? 'M';
}

// As JSON can express it: sets as lists, bytes as base64, whole numbers that a double cannot hold as text.
function plainOf(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return plainBytes(value);
  if (value instanceof Set) return [...value].map(plainOf);
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]));
}

function plainBytes(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, limits.binaryBytes)).toString('base64');
  return bytes.length <= limits.binaryBytes ? start : `${start}… (${bytes.length} bytes)`;
}
