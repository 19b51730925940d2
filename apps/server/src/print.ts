// Rows as aligned columns; the first one is the heading.
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)));
  const lines = rows.map(row => row.map((text, column) => text.padEnd(widths[column]!)).join('  '));
  for (const line of lines) console.log(line.trimEnd());
}

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

// The first ones of a list that may be long.
export async function takeFirst<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const one of items) {
    taken.push(one);
    if (taken.length >= most) break;
  }
  return taken;
}
