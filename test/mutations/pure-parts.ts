/** Sources that only compute, and the tests that should notice a change of any operator in them. */
export type PurePart = { name: string; files: readonly string[]; tests: readonly string[] };

const within = (folder: string, names: string, ending = '.ts'): string[] =>
  names.split(' ').map(name => `${folder}/${name}${ending}`);

const filters = 'services/webhooks/src/filters';
const signatures = 'services/webhooks/src/signatures';
const engine = 'packages/engine/src';

export const pureParts: readonly PurePart[] = [
  {
    name: 'positions',
    files: ['services/tasks/src/edit/position.ts'],
    tests: ['services/tasks/src/edit/position.test.ts'],
  },
  {
    name: 'signatures',
    files: within(signatures, 'custom signing verify'),
    tests: within(signatures, 'verify custom handshake oracles', '.test.ts'),
  },
  {
    name: 'recurrence',
    files: within('services/tasks/src', 'schedule/recurrence schedule/occurrences edit/next-occurrence'),
    tests: ['services/tasks/src/schedule/recurrence.test.ts', 'services/tasks/test/recurrence.test.ts'],
  },
  {
    name: 'filters',
    files: within(
      filters,
      'comparison filter json-path path-predicate path-step regex-size regex request-view where',
    ),
    tests: within(filters, 'filter json-path where regex', '.test.ts'),
  },
  {
    name: 'codecs',
    files: within(engine, 'storage/codec storage/keys values/compare values/number values/size'),
    tests: within(engine, 'storage/codec storage/keys values/compare values/number values/size', '.test.ts'),
  },
  {
    name: 'expressions',
    files: within(
      `${engine}/expressions`,
      'condition condition-checks condition-parser evaluation key-condition lexer path projection sets update update-application update-parser',
    ),
    tests: [
      ...within(`${engine}/expressions`, 'condition update key-condition projection', '.test.ts'),
      'packages/engine/test/expressions.test.ts',
    ],
  },
  {
    name: 'keys and cursors',
    files: within(
      'packages/table/src',
      'client/cursor conditions/sort-range design/key-part design/key-template',
    ),
    tests: [
      ...within('packages/table/src', 'design/key-template conditions/sort-range', '.test.ts'),
      'packages/table/test/contract.test.ts',
    ],
  },
  {
    name: 'schemas',
    files: within('packages/json-schema/src', 'match check'),
    tests: ['packages/json-schema/src/match.test.ts'],
  },
];
