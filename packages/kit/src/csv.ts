// Some spreadsheets accept full-width signs too.
const formula = /^[\s]*[=+\-@|%＝＋－＠]|^[\t\r\n]/;

/** A line of CSV (RFC 4180) that is safe to open in a spreadsheet: text that looks like a formula begins with `'`. */
export const csvLine = (cells: readonly unknown[]): string => `${cells.map(cellText).join(',')}\r\n`;

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
