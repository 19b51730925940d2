export type Cells = readonly (readonly string[])[];

export function textTable([head = [], ...rows]: Cells): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map(row => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ');
  return [line(head), widths.map(width => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

export function markdownTable([head = [], ...rows]: Cells): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`;
  const rule = `|${head.map((_, i) => (i === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export function formatRate(opsPerSecond: number | undefined): string {
  return opsPerSecond === undefined ? '–' : Math.round(opsPerSecond).toLocaleString('en-US');
}
