import type { KeyAttribute } from '../storage/table.ts';
import { readBinary } from '../validation/deserialize.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { TransferError } from './buckets.ts';

const longestField = 1024 * 1024; // characters; an item has at most 400 KB

/** Reads lines; gives the fields of a record once it is complete, since a quoted field may have line breaks. */
export function createCsvReader(delimiter: string) {
  let fields: string[] = [];
  let quoted: string | undefined; // what has been read of a quoted field that continues in the next line

  // Where the quoted field of this line ends, after its quote; undefined if it does not.
  function readQuoted(line: string, from: number): number | undefined {
    for (let at = from; ; ) {
      const end = line.indexOf('"', at);
      quoted += line.slice(at, end < 0 ? line.length : end);
      if (quoted!.length > longestField)
        throw new TransferError('ItemSizeTooLarge', 'A field of the file is too long: is a quote missing?');
      if (end < 0) return undefined;
      at = end + 1;
      if (line[at] !== '"') return at;
      quoted += '"';
      at++;
    }
  }

  return {
    isOpen: () => quoted !== undefined,
    read(line: string): string[] | undefined {
      if (quoted !== undefined) quoted += '\n';
      for (let at = 0; ; at++) {
        let field = '';
        if (quoted === undefined && line[at] === '"') {
          quoted = '';
          at++;
        }
        if (quoted !== undefined) {
          const end = readQuoted(line, at);
          if (end === undefined) return undefined;
          at = end;
          field = quoted;
          quoted = undefined;
        }
        const end = line.indexOf(delimiter, at);
        fields.push(field + line.slice(at, end < 0 ? line.length : end));
        if (end < 0) break;
        at = end;
      }
      const complete = fields;
      fields = [];
      return complete;
    },
  };
}

/** Key attributes have the types of the table; every other value is a string. */
export function csvItem(
  header: readonly string[],
  fields: readonly string[],
  types: ReadonlyMap<string, KeyAttribute['type']>,
): Item {
  const item = newItem();
  for (const [n, name] of header.entries()) {
    const text = fields[n];
    if (text !== undefined) item[name] = csvValue(text, types.get(name));
  }
  return item;
}

function csvValue(text: string, type: KeyAttribute['type'] | undefined): AttributeValue {
  if (type === 'N') return { N: text.trim() };
  if (type === 'B') return { B: readBinary(text) };
  return { S: text };
}
