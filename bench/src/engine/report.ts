import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { type ContestantName, contestantNames, titles } from './contestants.ts';
import { type OperationName, operationNames } from './operations.ts';
import { type Cell, inFlights, type Results } from './results.ts';

const operationTitles: Record<OperationName, string> = {
  put: 'put, one index',
  get: 'get',
  query: 'query of 20',
  update: 'update ADD',
  transaction: 'transaction of 3',
};

export function printResults(results: Results): string {
  return [...inFlights.map(inFlight => speedTable(results, inFlight)), ...growthLines(results)].join('\n\n');
}

const present = ({ operations }: Results): ContestantName[] =>
  contestantNames.filter(name => operations.some(cell => cell.contestants[name]));

function speedTable(results: Results, inFlight: number): string {
  const names = present(results);
  const cells = results.operations.filter(cell => cell.inFlight === inFlight);
  if (cells.length === 0) return '';
  const rows = cells.map(cell => [
    operationTitles[cell.operation],
    ...names.map(name => rateWithRatio(cell, name)),
    latency(cell),
  ]);
  return textTable([
    [`${inFlight} in flight, ops/s (x dynoxide)`, ...names.map(name => titles[name]), 'in process p50/p99'],
    ...rows,
  ]);
}

function rateWithRatio(cell: Cell, name: ContestantName): string {
  const measure = cell.contestants[name];
  const base = cell.contestants.dynoxide;
  if (!measure) return '–';
  if (!base || name === 'dynoxide') return formatRate(measure.opsPerSecond);
  const ratio = measure.opsPerSecond / base.opsPerSecond;
  return `${formatRate(measure.opsPerSecond)} (${ratio.toFixed(ratio < 10 ? 1 : 0)}x)`;
}

function latency({ contestants }: Cell): string {
  const ours = contestants['in-process'];
  return ours ? `${milliseconds(ours.p50Ms)} / ${milliseconds(ours.p99Ms)}` : '–';
}

const milliseconds = (ms: number): string =>
  ms < 1 ? `${(ms * 1000).toFixed(0)} µs` : `${ms.toFixed(1)} ms`;

function growthLines({ growth, opening, memory }: Results): string[] {
  const sizes = Object.keys(growth[0]?.sizes ?? {});
  return [
    ...(growth.length === 0
      ? []
      : [
          textTable([
            ['32 in flight, ops/s', ...sizes.map(size => `${formatRate(Number(size))} items`)],
            ...growth.map(row => [
              operationTitles[row.operation],
              ...sizes.map(size => formatRate(row.sizes[Number(size)]?.opsPerSecond)),
            ]),
          ]),
        ]),
    ...(opening
      ? [`opening: ${opening.emptyMs.toFixed(1)} ms empty, ${opening.fullMs.toFixed(1)} ms full`]
      : []),
    ...(memory
      ? [
          `loading ${formatRate(memory.items)} items: ${memory.seconds.toFixed(0)} s, ` +
            `${memory.privateMb.toFixed(0)} MB private, ${memory.mappedMb.toFixed(0)} MB of the mapped file`,
        ]
      : []),
  ];
}

// The README's table: one line an operation, `1 in flight / 32 in flight`.
export function readmeSection(results: Results): string {
  const names = present(results);
  const rate = (operation: OperationName, name: ContestantName): string =>
    inFlights
      .map(inFlight =>
        results.operations.find(row => row.operation === operation && row.inFlight === inFlight),
      )
      .map(cell => formatRate(cell?.contestants[name]?.opsPerSecond))
      .join(' / ');
  const table: Cells = [
    ['operations a second, 1 / 32 in flight', ...names.map(name => titles[name])],
    ...operationNames.map(operation => [
      operationTitles[operation],
      ...names.map(name =>
        name === 'dynalite' && operation === 'transaction' ? '–' : rate(operation, name),
      ),
    ]),
  ];
  return [markdownTable(table), growthSentence(results), about].join('\n\n');
}

function growthSentence({ growth, opening, memory }: Results): string {
  const change = growth.map(({ operation, sizes }) => {
    const rates = Object.values(sizes).map(measure => measure.opsPerSecond);
    return `${operationTitles[operation]} ${rates.map(formatRate).join(' → ')}`;
  });
  const parts = [`From 10 k over 100 k to 1 M items, 32 in flight: ${change.join('; ')}.`];
  if (opening)
    parts.push(
      `Opening takes ${opening.emptyMs.toFixed(1)} ms empty and ${opening.fullMs.toFixed(1)} ms with 1 M items.`,
    );
  if (memory) parts.push(`Loading them takes ${memory.privateMb.toFixed(0)} MB of memory.`);
  return parts.join(' ');
}

const about =
  'dynoxide, dynalite and Stak over HTTP are called through the AWS SDK; raw lmdb does the same key-value work ' +
  'without DynamoDB. What exactly is measured: [bench/README.md](bench/README.md).';
