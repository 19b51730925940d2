import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { Item } from '../src/values/attribute-value.ts';
import { openMusic, refusal, run } from './partiql-table.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openMusic();
});
afterEach(() => engine.close());

const put = (item: Item) => engine.execute('PutItem', { TableName: 'Music', Item: item });
const song = (Artist: string, Song: string, more: Item = {}): Item => ({
  Artist: { S: Artist },
  Song: { S: Song },
  ...more,
});
async function get(Artist: string, Song: string): Promise<Item | undefined> {
  const Key = { Artist: { S: Artist }, Song: { S: Song } };
  return ((await engine.execute('GetItem', { TableName: 'Music', Key })) as { Item?: Item }).Item;
}
const songs = (items: Item[]) => items.map(item => (item.Song as { S: string }).S);
const at = `WHERE Artist = 'a' AND Song = '1'`;

describe('INSERT', () => {
  it('stores every kind of literal', async () => {
    await run(
      engine,
      `insert into Music value {'Artist':'a', 'Song':'1', 'n': -1.50e1, 'q': 'it''s', 'y': true, 'z': null,
        'l': [1, 'x', {'k': [] }], 'm': {'__proto__': 1}, 'ss': <<'b','a'>>, 'ns': <<1, 2.5>>} -- done`,
    );
    expect(await get('a', '1')).toEqual(
      song('a', '1', {
        n: { N: '-15' },
        q: { S: "it's" },
        y: { BOOL: true },
        z: { NULL: true },
        l: { L: [{ N: '1' }, { S: 'x' }, { M: { k: { L: [] } } }] },
        m: { M: { ['__proto__']: { N: '1' } } },
        ss: { SS: ['a', 'b'] },
        ns: { NS: ['1', '2.5'] },
      }),
    );
  });

  it('accepts parameters of any type, and does not replace an item', async () => {
    const statement = `INSERT INTO "Music" VALUE {'Artist': ?, 'Song': ?, 'b': ?}`;
    const parameters = () => [{ S: 'a' }, { S: '1' }, { B: Buffer.from([1]) }];
    expect(await run(engine, statement, parameters())).toEqual({ Items: [] });
    const error = await refusal(run(engine, statement, parameters()));
    expect([error.name, error.message]).toEqual([
      'DuplicateItemException',
      'Duplicate primary key exists in table',
    ]);
  });
});

describe('UPDATE', () => {
  it('sets, computes, appends, adds, removes in one statement', async () => {
    await put(
      song('a', '1', {
        n: { N: '1' },
        l: { L: [{ N: '1' }] },
        s: { SS: ['x'] },
        t: { NS: ['1', '2'] },
        m: { M: { k: { S: 'old' } } },
        gone: { S: '' },
      }),
    );
    await run(
      engine,
      `UPDATE "Music" SET n = n+1, m.k = ? SET l = list_append(l, [2]) SET s = set_add(s, <<'y'>>)
       SET t = SET_DELETE(t, <<2>>) REMOVE gone ${at} AND n BETWEEN 1 AND 2`,
      [{ S: 'new' }],
    );
    expect(await get('a', '1')).toEqual(
      song('a', '1', {
        n: { N: '2' },
        l: { L: [{ N: '1' }, { N: '2' }] },
        s: { SS: ['x', 'y'] },
        t: { NS: ['1'] },
        m: { M: { k: { S: 'new' } } },
      }),
    );
  });

  it('neither creates an item nor changes one that fails the clause', async () => {
    const missing = await refusal(run(engine, `UPDATE Music SET x = 1 ${at}`));
    expect(missing.name).toBe('ConditionalCheckFailedException');
    expect(await get('a', '1')).toBeUndefined();
    await put(song('a', '1', { n: { N: '5' } }));
    const failed = await refusal(
      run(engine, `UPDATE Music SET x = 1 ${at} AND n = 6`, undefined, {
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    expect(failed.Item).toEqual(song('a', '1', { n: { N: '5' } }));
    expect(await get('a', '1')).toEqual(song('a', '1', { n: { N: '5' } }));
  });

  test.each([
    ['ALL OLD', [song('a', '1', { n: { N: '1' }, k: { S: '' } })]],
    ['ALL NEW', [song('a', '1', { n: { N: '2' }, k: { S: '' } })]],
    ['MODIFIED OLD', [{ n: { N: '1' } }]],
    ['MODIFIED NEW', [{ n: { N: '2' } }]],
  ])('RETURNING %s *', async (clause, items) => {
    await put(song('a', '1', { n: { N: '1' }, k: { S: '' } }));
    expect(await run(engine, `UPDATE Music SET n = 2 ${at} RETURNING ${clause} *`)).toEqual({ Items: items });
  });

  it('returns copies, not the values of a cached statement', async () => {
    await put(song('a', '1'));
    const statement = `UPDATE Music SET l = [1], m = {'k': <<'x'>>} ${at} RETURNING ALL NEW *`;
    const { Items } = await run(engine, statement);
    const expected = structuredClone(Items);
    (Items[0]!.l as { L: unknown[] }).L.push('changed');
    (Items[0]!.m as { M: Item }).M.k = { S: 'changed' };
    expect((await run(engine, statement)).Items).toEqual(expected);
  });

  it('returns no row if nothing is left to return', async () => {
    await put(song('a', '1', { n: { N: '1' } }));
    expect(await run(engine, `UPDATE Music REMOVE n ${at} RETURNING MODIFIED NEW *`)).toEqual({ Items: [] });
  });
});

describe('DELETE', () => {
  it('removes an item, returns it, and accepts a missing one', async () => {
    await put(song('a', '1', { n: { N: '1' } }));
    const refused = await refusal(run(engine, `DELETE FROM Music ${at} AND n > 1`));
    expect(refused.name).toBe('ConditionalCheckFailedException');
    expect(await run(engine, `DELETE FROM Music ${at} AND n = 1 RETURNING ALL OLD *`)).toEqual({
      Items: [song('a', '1', { n: { N: '1' } })],
    });
    expect(await run(engine, `DELETE FROM Music ${at} AND n = 1 RETURNING ALL OLD *`)).toEqual({ Items: [] });
  });
});

describe('SELECT', () => {
  beforeEach(async () => {
    for (const [i, artist] of ['a', 'a', 'a', 'b', 'c'].entries()) {
      await put(
        song(artist, String(i), {
          n: { N: String(i) },
          ...(i !== 2 && { Genre: { S: 'pop' }, Album: { S: `x${i}` }, Awards: { N: '1' } }),
          ...(i === 1 && {
            nul: { NULL: true },
            tags: { SS: ['t'] },
            m: { M: { l: { L: [{ S: 'deep' }] } } },
          }),
        }),
      );
    }
  });

  test.each([
    [`Artist = 'a'`, '012'],
    [`'a' = Artist AND '1' <= Song`, '12'],
    [`Artist = 'a' AND Song BETWEEN '1' AND '2' AND n <> 2`, '1'],
    [`Artist = 'a' AND begins_with(Song, '2')`, '2'],
    [`Artist = 'a' AND Song = '1' AND Song = '2'`, ''],
    [`Artist = 'a' AND NOT (Song = '1' OR n = 2)`, '0'],
    [`Artist IN ['c', 'b']`, '34'],
    [`Artist IN ['b'] AND Artist = 'c'`, ''],
    [`(Artist = 'b' OR Artist = 'c') AND n != 3`, '4'],
    [`Artist = 'a' OR n = 4`, '0124'],
    [`n IN (1, 4)`, '14'],
    [`n NOT IN [0, 1, 2, 3]`, '4'],
    [`nul IS NULL`, '1'],
    [`Artist = 'a' AND nul IS NOT NULL`, '02'],
    [`Artist = 'a' AND nul IS MISSING`, '02'],
    [`nul IS NOT MISSING`, '1'],
    [`contains(tags, 't') AND size(m.l) = 1 AND attribute_type(tags, 'SS')`, '1'],
    [`m.l[0] = 'deep' AND attribute_exists("m"."l"[0])`, '1'],
    [`Artist > 'b'`, '4'],
  ])('WHERE %s', async (where, expected) => {
    const { Items } = await run(engine, `SELECT * FROM "Music" WHERE ${where}`);
    expect(songs(Items).sort().join('')).toBe(expected);
  });

  test.each([
    [`Artist = 'a' ORDER BY Song DESC`, '210'],
    [`Artist = 'a' ORDER BY Song`, '012'],
    [`Artist IN ['a', 'b'] ORDER BY Artist DESC, Song ASC`, '3012'],
    [`Artist IN ['b', 'a'] ORDER BY Artist, Song DESC`, '2103'],
  ])('WHERE %s', async (where, expected) => {
    const { Items } = await run(engine, `SELECT Song FROM Music WHERE ${where}`);
    expect(songs(Items).join('')).toBe(expected);
  });

  it('names columns after the end of their path', async () => {
    const { Items } = await run(engine, `SELECT n, m.l, m.l[0] FROM Music ${at}`);
    expect(Items).toEqual([{ n: { N: '1' }, l: { L: [{ S: 'deep' }] }, 'l[0]': { S: 'deep' } }]);
  });

  it('reads an index: what is in it, and what it projects', async () => {
    const { Items } = await run(
      engine,
      `SELECT * FROM "Music"."ByGenre" WHERE Genre = 'pop' AND Album < 'x3'`,
    );
    expect(songs(Items)).toEqual(['0', '1']);
    expect(Object.keys(Items[0]!).sort()).toEqual(['Album', 'Artist', 'Awards', 'Genre', 'Song']);
    const scanned = await run(engine, `SELECT Song FROM "Music"."ByGenre" WHERE n IS MISSING`);
    expect(songs(scanned.Items).sort()).toEqual(['0', '1', '3', '4']);
    const fetched = await run(engine, `SELECT n FROM "Music"."ByAlbum" WHERE Artist = 'a'`, undefined, {
      ReturnConsumedCapacity: 'INDEXES',
    });
    expect(fetched.Items).toEqual([{ n: { N: '0' } }, { n: { N: '1' } }]);
    expect(fetched.ConsumedCapacity).toMatchObject({ CapacityUnits: 1.5, Table: { CapacityUnits: 1 } });
  });

  it('costs what the same Query costs', async () => {
    const statement = `SELECT * FROM Music WHERE Artist = 'a'`;
    const { ConsumedCapacity } = await run(engine, statement, undefined, {
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
    });
    expect(ConsumedCapacity).toEqual({ TableName: 'Music', CapacityUnits: 1 });
  });

  test.each([
    [`SELECT * FROM Music`, undefined, 5],
    [`SELECT * FROM Music WHERE Artist = ?`, [{ S: 'a' }], 3],
    [`SELECT * FROM Music WHERE Artist IN ['c', 'a', 'b'] ORDER BY Artist, Song DESC`, undefined, 5],
    [`SELECT * FROM "Music"."ByGenre" WHERE Genre = 'pop'`, undefined, 4],
  ])('%s, page by page', async (statement, parameters, total) => {
    const whole = await run(engine, statement, parameters);
    expect(whole.Items).toHaveLength(total);
    const items: Item[] = [];
    let NextToken: string | undefined;
    do {
      const page = await run(engine, statement, parameters, { Limit: 1, ...(NextToken && { NextToken }) });
      expect(page.Items.length).toBeLessThanOrEqual(1);
      items.push(...page.Items);
      NextToken = page.NextToken;
    } while (NextToken);
    expect(items).toEqual(whole.Items);
  });

  it('returns no token for a single item, and accepts none but its own', async () => {
    expect(await run(engine, `SELECT n FROM Music ${at}`, undefined, { Limit: 1 })).toEqual({
      Items: [{ n: { N: '1' } }],
    });
    const statement = `SELECT * FROM Music WHERE Artist = ?`;
    const { NextToken } = await run(engine, statement, [{ S: 'a' }], { Limit: 1 });
    const changed = `${NextToken!.slice(0, -2)}AA`;
    for (const [text, parameter, token] of [
      [statement, 'b', NextToken],
      [`${statement} `, 'a', NextToken],
      [statement, 'a', changed],
      [statement, 'a', 'x'],
    ] as const) {
      const error = await refusal(run(engine, text, [{ S: parameter }], { NextToken: token }));
      expect(error.message).toBe('NextToken does not match request');
    }
    expect(songs((await run(engine, statement, [{ S: 'a' }], { NextToken, Limit: 2 })).Items)).toEqual([
      '1',
      '2',
    ]);
  });
});

const malformed = (reason: string) => `Statement wasn't well formed, can't be processed: ${reason}`;
const leftover = malformed('Unexpected token after expression');
const incomplete = 'Where clause does not contain a mandatory equality on all key attributes';

test.each([
  [`SELECTT * FROMM "Music"`, malformed('Expected data manipulation')],
  [`SELECT * FROM "Music`, malformed('')],
  [`SELECT * FROM Music WHERE`, malformed('Unexpected term')],
  [`SELECT * FROM Music WHERE ORDER BY Artist`, malformed('Unexpected keyword')],
  [`SELECT * FROM Music WHERE IS NULL`, malformed('Unexpected operator')],
  [`SELECT * FROM Music ${at} AND`, malformed('Missing right-hand side expression of infix operator')],
  [`SELECT * FROM Music ${at} foo`, leftover],
  [`SELECT * FROM Music ${at};;`, leftover],
  [`SELECT * FROM Music ${at} AND x IS FOO`, malformed('Expected type name')],
  [`SELECT * FROM Music m ${at}`, 'Aliasing is not supported'],
  [`SELECT * FROM "" ${at}`, 'Path component cannot be an empty string'],
  [`SELECT * FROM "a"."b"."c"`, 'A path may contain at most 2 components in the FROM clause'],
  [`SELECT * FROM "Music"."Nope"`, 'The table does not have the specified index'],
  [`SELECT * FROM Music ${at} AND x = ?`, "Number of parameters in request and statement don't match."],
  [
    `SELECT * FROM Music ${at} AND x < true`,
    'Incorrect operand type for operator or function; operator or function: <, operand type: BOOL',
  ],
  [
    `SELECT n FROM "Music"."ByGenre" WHERE Genre = 'pop'`,
    'One or more parameter values were invalid: Global secondary index ByGenre does not project [n]',
  ],
  [
    `SELECT Song FROM "Music"."ByAlbum" WHERE Artist = 'a' AND n = 1`,
    'One or more parameter values were invalid: Secondary index ByAlbum does not project one or more filter ' +
      'attributes: [n]',
  ],
  [
    `SELECT * FROM Music WHERE Artist = 1`,
    "Key attribute's data type should match its data type in table's schema: Key Artist",
  ],
  [
    `SELECT * FROM Music ORDER BY Song`,
    'Must have WHERE clause in the statement when using ORDER BY clause.',
  ],
  [`SELECT l[-1] FROM Music`, 'List index is not within the allowable range; index: [-1] at 1:11:1'],
  [
    `SELECT * FROM Music WHERE n = 1e126`,
    'Number overflow. Attempting to store a number with magnitude larger than supported range under root',
  ],
  [
    `SELECT * FROM Music WHERE Artist = 'a' AND Song IN ['1', 2]`,
    "Key attribute's data type should match its data type in table's schema: Key Song",
  ],
  [
    `SELECT * FROM Music WHERE Artist IN ['a', 'b'] AND Song IN [${Array.from({ length: 26 }, (_, i) => `'${i}'`)}]`,
    'Too many decomposed read operations for a given query.',
  ],
  [
    `INSERT INTO Music VALUE {'Artist': 'a', 'Song': '1', 'n': <<2, 2.0>>}`,
    'One or more parameter values were invalid: Input collection [2, 2.0] contains duplicates! under root',
  ],
  [
    `SELECT * FROM Music WHERE Artist IN [${Array.from({ length: 51 }, (_, i) => `'${i}'`)}]`,
    'Too many decomposed read operations for a given query.',
  ],
  [`INSERT INTO Music VALUE {'Artist': 'a', 'Song': '1'} RETURNING ALL OLD *`, leftover],
  [`INSERT INTO Music VALUE {'s': <<>>}`, 'Empty bags are not supported'],
  [
    `INSERT INTO Music VALUE {'s': <<1, 'a'>>}`,
    'Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags',
  ],
  [`INSERT INTO Music VALUE {'m': {'k': ?}}`, 'Unsupported data type: Parameter under key root.k at 1:37:1'],
  [
    `INSERT INTO Music VALUE {'Artist': 'a'}`,
    'One or more parameter values were invalid: Missing the key Song in the item',
  ],
  [`UPDATE Music SET x = 1`, incomplete],
  [`UPDATE Music SET x = 1 WHERE Artist = 'a' OR Song = '1'`, incomplete],
  [
    `UPDATE Music SET x = 1 ${at} AND Artist = 'b'`,
    'Multiple conditions on same key Artist. Only single item Update/Insert/Delete are supported',
  ],
  [
    `UPDATE Music SET Song = '2' ${at}`,
    'One or more parameter values were invalid: Cannot update attribute Song. This attribute is part of the key',
  ],
  [
    `UPDATE Music SET x = 'a' + 1 ${at}`,
    'Incorrect operand type for operator or function; operator or function: +, operand type: S',
  ],
  [
    `UPDATE Music SET x = set_add(y, <<1>>) ${at}`,
    'The first argument to SET_ADD must equal the assignment value at 1:22:7',
  ],
  [
    `UPDATE Music SET x = set_add(x, 1) ${at}`,
    'The second argument to SET_ADD must be a value with type SET at 1:30:1',
  ],
  [`UPDATE "Music"."ByGenre" SET x = 1 ${at}`, 'This operation is not supported on an index'],
  [`DELETE FROM Music WHERE Artist = 'a'`, incomplete],
  [`DELETE FROM WHERE x = 1`, malformed('Expected identifier for simple path')],
  [
    `DELETE FROM Music ${at} RETURNING MODIFIED OLD *`,
    'Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.',
  ],
  [
    `EXISTS(SELECT * FROM Music ${at} AND x = 1)`,
    'EXISTS can only be used in ExecuteTransaction write requests.',
  ],
])('%s is refused', async (statement, message) => {
  const error = await refusal(run(engine, statement));
  expect([error.name, error.message]).toEqual(['ValidationException', message]);
});

test('a missing table', async () => {
  expect((await refusal(run(engine, `SELECT * FROM Nope`))).name).toBe('ResourceNotFoundException');
  expect((await refusal(run(engine, `DELETE FROM Nope ${at}`))).name).toBe('ResourceNotFoundException');
});
