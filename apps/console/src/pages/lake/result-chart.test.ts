import { expect, it } from 'vitest';
import { chartOf } from './result-chart.ts';

it('plots numbers against the first column that is not numeric', () => {
  const columns = [
    { name: 'tasks', type: 'BIGINT' },
    { name: 'category', type: 'VARCHAR' },
    { name: 'tasks', type: 'DOUBLE' },
  ];
  expect(
    chartOf(columns, [
      ['12', null, 1.5],
      [3, 'sales', null],
    ]),
  ).toEqual({
    kind: 'bar',
    label: 'category',
    values: ['tasks', 'tasks (3)'],
    rows: [
      { category: '(none)', tasks: 12, 'tasks (3)': 1.5 },
      { category: 'sales', tasks: 3, 'tasks (3)': null },
    ],
  });
});

it('draws days as a line, oldest first', () => {
  const columns = [
    { name: 'week', type: 'DATE' },
    { name: 'tasks', type: 'BIGINT' },
  ];
  const chart = chartOf(columns, [
    ['2026-11-09', 2],
    ['2026-11-02', 1],
  ]);
  expect(chart).toMatchObject({ kind: 'line', rows: [{ week: '2026-11-02' }, { week: '2026-11-09' }] });
});

it('draws nothing without numbers, labels or a second row', () => {
  const [name, count] = [
    { name: 'a', type: 'VARCHAR' },
    { name: 'b', type: 'INTEGER' },
  ];
  expect(
    chartOf(
      [name, name],
      [
        ['x', 'y'],
        ['x', 'y'],
      ],
    ),
  ).toBeUndefined();
  expect(chartOf([count], [[1], [2]])).toBeUndefined();
  expect(chartOf([name, count], [['x', 1]])).toBeUndefined();
});
