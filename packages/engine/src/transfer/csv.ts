import type { KeyAttribute } from '../storage/table.ts';
import { readBinary } from '../validation/deserialize.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { TransferError } from './buckets.ts';

/**
 * Splits lines into records, each character once: of a file without a closing quote, every line continues the record.
 * `split` returns the fields, or undefined if a quoted one continues in the next line.
 */
export function createCsvSplitter(delimiter: string, mostChars: number) {
  let fields: string[] = [];
  let quoted: string | undefined; // as far as it was read
  let chars = 0;

  function split(line: string): string[] | undefined {
    if (quoted === undefined) {
      fields = [];
      chars = 0;
    } else quoted += '\n';
    chars += line.length + 1;
    if (chars > mostChars) throw new TransferError('ItemSizeTooLarge', 'A record of the file is too long');
    for (let at = 0; ; ) {
      if (quoted === undefined && line[at] === '"') {
        quoted = '';
        at++;
      }
      while (quoted !== undefined) {
        const end = line.indexOf('"', at);
        quoted += line.slice(at, end < 0 ? line.length : end);
        if (end < 0) return undefined;
        at = end + 1;
        if (line[at] !== '"') break;
        quoted += '"';
        at++;
      }
      const end = line.indexOf(delimiter, at);
      fields.push((quoted ?? '') + line.slice(at, end < 0 ? line.length : end));
      quoted = undefined;
      if (end < 0) return fields;
      at = end + 1;
    }
  }
  return { split, isOpen: () => quoted !== undefined };
}

/** Key attributes have the types of the table; every other value is a string. Fields beyond the header have no name. */
export function csvItem(
  header: readonly string[],
  fields: readonly string[],
  types: ReadonlyMap<string, KeyAttribute['type']>,
): Item {
  const item = newItem();
  for (let n = 0; n < fields.length && n < header.length; n++) {
    const name = header[n]!;
    item[name] = csvValue(fields[n]!, types.get(name));
  }
  return item;
}

function csvValue(text: string, type: KeyAttribute['type'] | undefined): AttributeValue {
  if (type === 'N') return { N: text.trim() };
  if (type === 'B') return { B: readBinary(text) };
  return { S: text };
}
