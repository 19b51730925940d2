// A spreadsheet takes a text that begins like this for a formula, and runs it.
const formula = /^[=+\-@\t\r]/;

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const toCsv = (names: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [names, ...rows].map(row => `${row.map(cell).join(',')}\r\n`).join('');
