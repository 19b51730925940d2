import { type Cells, markdownTable, textTable } from '../table.ts';
import { type OperationName, operationNames } from './operations.ts';
import type { Results } from './targets.ts';

export const printResults = (results: Results): string =>
  [...report(results, textTable), ...(results.costs ? [textTable(costCells(results.costs))] : [])].join(
    '\n\n',
  );

export const readmeSection = (results: Results): string =>
  [...report(results, markdownTable), costsLink].join('\n\n');

const costsLink =
  "What each of the document's access patterns costs, beside what it claims: [services/tasks/README.md](services/tasks/README.md#access-patterns-and-what-they-cost).";

const report = ({ operations, search, costs }: Results, table: (cells: Cells) => string): string[] => [
  ...(operations ? [table(operationCells(operations, costs))] : []),
  ...(search ? [searchSentence(search)] : []),
];

const titles: Record<OperationName, string> = {
  query: 'a bare query of 50',
  list: 'list of 50',
  'list route': 'list of 50, by its route',
  get: 'get, by its route',
  create: 'create, by its route',
  status: 'status change, by its route',
};
const patternOf: Partial<Record<OperationName, string>> = {
  list: 'all tasks',
  'list route': 'all tasks',
  get: 'task by task_id',
  create: 'create task',
  status: 'update task',
};

const count = (value: number): string => value.toLocaleString('en-US');
const micro = (ms: number): string => `${(ms * 1000).toFixed(0)} µs`;
const unitsOf = ({ readUnits, writeUnits }: { readUnits: number; writeUnits: number }): string =>
  [...(readUnits > 0 ? [`${readUnits} RCU`] : []), ...(writeUnits > 0 ? [`${writeUnits} WCU`] : [])].join(
    ', ',
  ) || '0';

function operationCells(
  { small, large, measures }: NonNullable<Results['operations']>,
  costs: Results['costs'],
): Cells {
  return [
    ['tasks in process, p50', `of ${count(small)} tasks`, `of ${count(large)}`, 'units'],
    ...operationNames.map(name => {
      const row = costs?.find(({ pattern }) => pattern === patternOf[name]);
      const sizes = (['small', 'large'] as const).map(size => micro(measures[`${name}, ${size}`].p50Ms));
      return [titles[name], ...sizes, row ? unitsOf(row) : ''];
    }),
  ];
}

const searchSentence = ({ tasks, measures: { search, scan } }: NonNullable<Results['search']>): string =>
  `Searching ${count(tasks)} tasks takes ${search.p50Ms.toFixed(1)} ms; the document's scan with a filter takes ${scan.p50Ms.toFixed(0)} ms.`;

const costCells = (costs: NonNullable<Results['costs']>): Cells => [
  ["the document's access patterns, 40 tasks", 'claimed', 'measured', 'why'],
  ...costs.map(row => [row.pattern, row.claimed, unitsOf(row), row.why]),
];
