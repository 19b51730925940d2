// RFC 4180, and safe to open in a spreadsheet: a text that would be taken for a formula begins with an apostrophe.
export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

const formula = /^[\s]*[=+\-@|%＝＋－＠]|^[\t\r\n]/; // some spreadsheets read full-width signs like others

function cellText(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const safe = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
