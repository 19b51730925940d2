import type { Attributes } from '../client/client.ts';

// Errors and stream records contain items in DynamoDB's wire format: `{ S: 'text' }`.
type Tagged = Record<string, unknown>;

/** Converts typed values like `{ S: 'text' }` to plain ones. */
export function untagItem(item: Record<string, Tagged>): Attributes {
  const plain: Attributes = {};
  for (const name of Object.keys(item)) {
    const value = untag(item[name]!);
    if (name !== '__proto__') plain[name] = value;
    // An assignment would change the prototype.
    else Object.defineProperty(plain, name, { value, enumerable: true, writable: true, configurable: true });
  }
  return plain;
}

function untag(value: Tagged): unknown {
  const tag = tagOf(value);
  const content = tag === undefined ? undefined : value[tag];
  switch (tag) {
    case 'N':
      return untagNumber(content as string);
    case 'NULL':
      return null;
    case 'M':
      return untagItem(content as Record<string, Tagged>);
    case 'L':
      return (content as Tagged[]).map(untag);
    case 'SS':
    case 'BS':
      return new Set(content as unknown[]);
    case 'NS':
      return new Set((content as string[]).map(untagNumber));
    default:
      return content;
  }
}

// The AWS SDK may include the other tags without a value.
function tagOf(value: Tagged): string | undefined {
  for (const tag in value) if (value[tag] !== undefined) return tag;
  return undefined;
}

// Like the document client: whole numbers that a double cannot hold become BigInt.
function untagNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}
