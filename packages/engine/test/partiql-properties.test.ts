import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { DynamoError } from '../src/errors.ts';
import type { AttributeValue, Item } from '../src/values/attribute-value.ts';
import { music, openMusic, run } from './partiql-table.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await openMusic();
});
afterAll(() => engine.close());

// ---- hostile input: an answer or a DynamoError, whatever the text

const words = (
  'SELECT FROM WHERE AND OR NOT IN BETWEEN IS NULL MISSING ORDER BY DESC INSERT INTO VALUE UPDATE SET REMOVE ' +
  'DELETE RETURNING ALL MODIFIED OLD NEW EXISTS Music "Music" "ByGenre" Artist Song n size contains begins_with ' +
  `list_append set_add 'a' '1' "x 1 -2.5e3 ? true * , . : ; ( ) [ ] { } << >> = <> < <= > >= != + - -- /* */ '`
).split(' ');
const parameters = fc.array(fc.constantFrom<AttributeValue>({ S: 'a' }, { N: '1' }, { SS: ['x'] }), {
  minLength: 1,
  maxLength: 3,
});

async function survive(statement: string, values?: AttributeValue[]): Promise<void> {
  const Parameters = values?.map(value => ({ ...value }) as AttributeValue);
  for (const [operation, input] of [
    ['ExecuteStatement', { Statement: statement, Parameters }],
    ['BatchExecuteStatement', { Statements: [{ Statement: statement, Parameters }] }],
    ['ExecuteTransaction', { TransactStatements: [{ Statement: statement, Parameters }] }],
  ] as const) {
    try {
      await engine.execute(operation, input);
    } catch (error) {
      expect(error).toBeInstanceOf(DynamoError);
      expect((error as DynamoError).statusCode).toBe(400);
    }
  }
}

test('any text is answered', async () => {
  await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), text => survive(text)));
});

test('any sequence of words is answered', async () => {
  const heap = fc.array(fc.constantFrom(...words), { maxLength: 30 }).map(parts => parts.join(' '));
  const clause = heap.map(text => `SELECT * FROM Music WHERE ${text}`);
  await fc.assert(fc.asyncProperty(fc.oneof(heap, clause), parameters, survive), {
    numRuns: process.env.STAK_LONG_TESTS ? 500 : 80,
  });
});

test('a statement with a missing piece is answered', async () => {
  const whole =
    `UPDATE "Music" SET a = list_append(a, [1, {'k': <<1>>}]), b = set_add(b, <<'x'>>) REMOVE c[1].d ` +
    `WHERE Artist = 'a' AND Song = '1' AND (n IN [1, 2] OR NOT size(x) > 3) RETURNING ALL OLD *`;
  const cut = fc
    .tuple(fc.nat(whole.length), fc.nat(12))
    .map(([at, n]) => whole.slice(0, at) + whole.slice(at + n));
  await fc.assert(fc.asyncProperty(cut, text => survive(text)));
});

test.each([
  ['parentheses', `SELECT * FROM Music WHERE ${'('.repeat(8000)}`],
  ['NOT', `SELECT * FROM Music WHERE ${'NOT '.repeat(2000)}x = 1`],
  ['lists', `SELECT * FROM Music WHERE x = ${'['.repeat(8000)}`],
  ['sets', `SELECT * FROM Music WHERE x = ${'<<['.repeat(2000)}`],
  ['maps', `INSERT INTO Music VALUE ${"{'a':".repeat(1500)}`],
  ['sizes', `SELECT * FROM Music WHERE ${'size('.repeat(1500)}`],
  ['appends', `UPDATE Music SET a = ${'list_append('.repeat(650)}`],
  ['signs', `SELECT * FROM Music WHERE x = ${'- '.repeat(4000)}1`],
  ['a path', `SELECT ${'a.'.repeat(4000)}a FROM Music`],
  ['a long key', `SELECT * FROM Music WHERE Artist = '${'a'.repeat(4000)}' AND Song > '${'b'.repeat(4000)}'`],
  [
    'a long prefix',
    `SELECT * FROM "Music"."ByGenre" WHERE Genre = 'a' AND begins_with(Album, '${'b'.repeat(7000)}')`,
  ],
])('%s without end', async (_, statement) => {
  const before = process.cpuUsage();
  await survive(statement);
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds
});

// ---- the same work in both languages leaves the same items

const artist = fc.constantFrom('a', 'b');
const title = fc.constantFrom('1', '2', '3');
const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.record({ S: fc.constantFrom('', "it's", '"', 'é𝄞', '--') }),
  fc.record({ N: fc.constantFrom('0', '-1', '2.5', '1000') }),
  fc.record({ BOOL: fc.boolean() }),
  fc.constant<AttributeValue>({ NULL: true }),
  fc.record({ SS: fc.uniqueArray(fc.constantFrom('x', 'y', "'"), { minLength: 1 }) }),
  fc.record({ NS: fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1 }) }),
  fc.record({ L: fc.array(fc.record({ N: fc.constantFrom('1', '2') }), { maxLength: 2 }) }),
  fc.record({ M: fc.dictionary(fc.constantFrom('k', '"'), fc.record({ S: fc.constantFrom('v', 'w') })) }),
);
const name = fc.constantFrom('p', 'select', 'q"q', '#h', '__proto__', 'Genre', 'Album');
const attributes = fc.array(fc.tuple(name, value), { maxLength: 3 });

type Step = {
  kind: 'put' | 'set' | 'sum' | 'remove' | 'delete';
  key: Item;
  attributes: [string, AttributeValue][];
};
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('put', 'set', 'sum', 'remove', 'delete'),
  key: fc.record({ Artist: fc.record({ S: artist }), Song: fc.record({ S: title }) }),
  attributes,
});

const text = (s: string) => `'${s.replaceAll("'", "''")}'`;
const quoted = (s: string) => `"${s.replaceAll('"', '""')}"`;

function literal(v: AttributeValue): string {
  if ('S' in v) return text(v.S);
  if ('N' in v) return v.N;
  if ('BOOL' in v) return String(v.BOOL);
  if ('SS' in v) return `<<${v.SS.map(text)}>>`;
  if ('NS' in v) return `<<${v.NS}>>`;
  if ('L' in v) return `[${v.L.map(literal)}]`;
  if ('M' in v) return `{${Object.entries(v.M).map(([k, member]) => `${text(k)}: ${literal(member)}`)}}`;
  return 'null';
}

const where = ({ Artist, Song }: Item) => `WHERE Artist = ${literal(Artist!)} AND Song = ${literal(Song!)}`;

// A value is written into the statement or sent beside it, by turns.
function asStatement({ kind, key, attributes: pairs }: Step): [statement: string, values: AttributeValue[]] {
  const values: AttributeValue[] = [];
  const write = (v: AttributeValue, i: number) => {
    if (i % 2 === 0) return literal(v);
    values.push(v);
    return '?';
  };
  const members = [...Object.entries(key), ...pairs];
  switch (kind) {
    case 'put':
      return [
        `INSERT INTO Music VALUE {${members.map(([k, v], i) => `${text(k)}: ${write(v, i)}`)}}`,
        values,
      ];
    case 'delete':
      return [`DELETE FROM Music ${where(key)}`, values];
    case 'remove':
      return [`UPDATE Music ${pairs.map(([k]) => `REMOVE ${quoted(k)}`).join(' ')} ${where(key)}`, values];
    case 'sum':
      return [`UPDATE Music SET p = p + 1 ${where(key)}`, values];
    case 'set':
      return [
        `UPDATE Music SET ${pairs.map(([k, v], i) => `${quoted(k)} = ${write(v, i)}`)} ${where(key)}`,
        values,
      ];
  }
}

function asOperation({ kind, key, attributes: pairs }: Step): [operation: string, input: object] {
  const names: Record<string, string> = { '#0': 'Artist' };
  const values: Record<string, AttributeValue> = {};
  const base = { TableName: 'Music', ExpressionAttributeNames: names };
  const exists = { ...base, Key: key, ConditionExpression: 'attribute_exists(#0)' };
  const named = pairs.map(([k], i) => {
    names[`#n${i}`] = k;
    return `#n${i}`;
  });
  switch (kind) {
    case 'put': {
      const item: Item = Object.assign(Object.create(null), key);
      for (const [k, v] of pairs) item[k] = v;
      const input = { TableName: 'Music', ExpressionAttributeNames: { '#0': 'Artist' }, Item: item };
      return ['PutItem', { ...input, ConditionExpression: 'attribute_not_exists(#0)' }];
    }
    case 'delete':
      return ['DeleteItem', { TableName: 'Music', Key: key }];
    case 'remove':
      return ['UpdateItem', { ...exists, UpdateExpression: `REMOVE ${named.join(', ')}` }];
    case 'sum': {
      const input = { ...exists, ExpressionAttributeNames: { '#0': 'Artist', '#p': 'p' } };
      const ExpressionAttributeValues = { ':1': { N: '1' } };
      return ['UpdateItem', { ...input, ExpressionAttributeValues, UpdateExpression: 'SET #p = #p + :1' }];
    }
    case 'set': {
      const assignments = pairs.map(([, v], i) => {
        values[`:v${i}`] = v;
        return `${named[i]} = :v${i}`;
      });
      const UpdateExpression = `SET ${assignments.join(', ')}`;
      return ['UpdateItem', { ...exists, ExpressionAttributeValues: values, UpdateExpression }];
    }
  }
}

// Refused or not, and nothing else: the two languages have their own names for the same refusal.
async function accepted(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof DynamoError && error.statusCode === 400) return false;
    throw error;
  }
}

test('statements and operations leave the same items', async () => {
  const [one, other] = await Promise.all([openMusic(), openMusic()]);
  const empty = async () => {
    for (const each of [one, other]) {
      await each.execute('DeleteTable', { TableName: 'Music' });
      await each.settled();
      await each.execute('CreateTable', music);
    }
  };
  const all = async (each: Engine) =>
    ((await each.execute('Scan', { TableName: 'Music' })) as { Items: Item[] }).Items;
  const steps = fc.array(step, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc
      .asyncProperty(steps, artist, value, async (list, hash, wanted) => {
        for (const each of list) {
          const [statement, values] = asStatement(each);
          const [operation, input] = asOperation(each);
          const took = await accepted(run(one, statement, values.length > 0 ? values : undefined));
          expect(await accepted(other.execute(operation, input)), statement).toBe(took);
        }
        expect(await all(one)).toEqual(await all(other));
        const selected = await run(
          one,
          `SELECT * FROM Music WHERE Artist = '${hash}' AND p = ${literal(wanted)}`,
        );
        const queried = (await other.execute('Query', {
          TableName: 'Music',
          KeyConditionExpression: 'Artist = :h',
          FilterExpression: 'p = :w',
          ExpressionAttributeValues: { ':h': { S: hash }, ':w': wanted },
        })) as { Items: Item[] };
        expect(selected.Items).toEqual(queried.Items);
      })
      .beforeEach(empty),
    { numRuns: 60 },
  );
  expect(one.check().problems).toEqual([]);
  await one.close();
  await other.close();
});
