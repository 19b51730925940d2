export type ChartData = {
  kind: 'bar' | 'line';
  label: string; // the column along the axis
  values: string[]; // the columns that are drawn
  rows: Record<string, string | number | null>[];
};

type Column = { name: string; type: string };

const numberTypes = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT|INTEGER|UINTEGER|DOUBLE|FLOAT|DECIMAL)/;
const timeTypes = /^(?:DATE|TIMESTAMP)/;
const rowsMost = 200; // a chart has no room for more points
const seriesMost = 5;

export const isNumberType = (type: string): boolean => numberTypes.test(type);

// Numbers too large for JavaScript arrive as text.
const numberOf = (value: unknown): number | null =>
  value === null || value === undefined || value === '' || Number.isNaN(Number(value)) ? null : Number(value);

/** A result as a chart: its numeric columns over the first other column. Undefined if there is nothing to draw. */
export function chartOf(
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): ChartData | undefined {
  const axis = columns.findIndex(({ type }) => !isNumberType(type));
  const drawn = columns.flatMap(({ type }, at) => (isNumberType(type) ? [at] : [])).slice(0, seriesMost);
  if (axis === -1 || drawn.length === 0 || rows.length < 2) return undefined;
  // Two columns may have the same name.
  const nameOf = (at: number) =>
    columns.findIndex(({ name }) => name === columns[at]!.name) === at
      ? columns[at]!.name
      : `${columns[at]!.name} (${at + 1})`;
  const isTime = timeTypes.test(columns[axis]!.type);
  const points = rows.slice(0, rowsMost).map(row => ({
    [nameOf(axis)]: row[axis] === null ? '(none)' : String(row[axis]).slice(0, isTime ? 10 : 40),
    ...Object.fromEntries(drawn.map(at => [nameOf(at), numberOf(row[at])])),
  }));
  return {
    kind: isTime ? 'line' : 'bar',
    label: nameOf(axis),
    values: drawn.map(nameOf),
    rows: isTime
      ? points.toSorted((a, b) => (String(a[nameOf(axis)]) < String(b[nameOf(axis)]) ? -1 : 1))
      : points,
  };
}
