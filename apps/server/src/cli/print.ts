// Prints rows as aligned columns; the first one is the heading. Without other rows, prints a hint for people.
export function printTable(rows: readonly (readonly string[])[], ifEmpty?: string): void {
  if (rows.length === 1 && ifEmpty !== undefined) {
    console.error(ifEmpty);
    return;
  }
  console.log(tableText(rows));
}

const isCommand = /(?![\n\t])\p{Cc}/gu;

/** Texts come from customers, models and other servers: they must not move the cursor or rename the window. */
export const withoutCommands = (text: string): string => text.replaceAll(isCommand, '');

export function tableText(given: readonly (readonly string[])[]): string {
  const rows = given.map(row => row.map(withoutCommands));
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)));
  const lines = rows.map(row => row.map((text, column) => text.padEnd(widths[column]!)).join('  '));
  return lines.map(line => line.trimEnd()).join('\n');
}

// For a person at a terminal; programs do not need it.
export function note(line: string): void {
  if (process.stderr.isTTY) console.error(line);
}

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2));

export const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

// The first items of a list that may be long.
export async function takeFirst<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= most) break;
  }
  return taken;
}
