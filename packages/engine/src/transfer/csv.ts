import { readBinary } from '../http/deserialize.ts';
import type { KeyAttribute } from '../storage/table.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';

/** The fields of a line; undefined if a quoted one continues in the next line. */
export function splitCsv(line: string, delimiter: string): string[] | undefined {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    let field = '';
    if (line[at] === '"') {
      for (at++; ; ) {
        const end = line.indexOf('"', at);
        if (end < 0) return undefined;
        field += line.slice(at, end);
        at = end + 1;
        if (line[at] !== '"') break;
        field += '"';
        at++;
      }
    }
    const end = line.indexOf(delimiter, at);
    fields.push(field + line.slice(at, end < 0 ? line.length : end));
    if (end < 0) return fields;
    at = end + 1;
  }
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
