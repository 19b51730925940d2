import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../src/engine.ts';
import { createHttpServer, type HttpServer } from '../src/http/server.ts';
import {
  call,
  exchange,
  expectWellFormed,
  openLine,
  type Reply,
  requestBytes,
  signedHeaders,
} from './http-exchange.ts';
import { validRequests } from './http-requests.ts';

let engine: Engine;
let server: HttpServer;
let port: number;
const bugs: object[] = [];

beforeAll(async () => {
  engine = await createEngine({ path: ':memory:' });
  server = createHttpServer(engine, { log: { error: details => void bugs.push(details) } });
  ({ port } = await server.listen());
  for (const [operation, input] of validRequests) {
    const reply = await call(port, operation, input);
    expect([operation, reply.status, reply.body]).toEqual([operation, 200, expect.anything()]);
  }
  await call(port, 'PutItem', {
    TableName: 'witness',
    Item: { pk: { S: 'w' }, sk: { S: 'w' }, n: { N: '1' } },
  });
});

afterAll(async () => {
  await server?.close();
  await engine?.close();
});

// Whatever a test did, the next client must find the store as it was, and no bug may have been logged.
afterEach(async () => {
  expect(bugs.splice(0)).toEqual([]);
  const reply = await call(port, 'GetItem', {
    TableName: 'witness',
    Key: { pk: { S: 'w' }, sk: { S: 'w' } },
  });
  expect(JSON.parse(reply.body)).toEqual({ Item: { pk: { S: 'w' }, sk: { S: 'w' }, n: { N: '1' } } });
});

function expectRefusal(reply: Reply, status = 400): void {
  expectWellFormed(reply);
  expect([reply.status, reply.body]).toEqual([status, expect.anything()]);
}

const put = (item: string) => call(port, 'PutItem', `{"TableName":"hostile","Item":${item}}`);
const nest = (depth: number, open: string, core: string, close: string) =>
  open.repeat(depth) + core + close.repeat(depth);

describe('nesting', () => {
  test.each([
    ['arrays', nest(100_000, '[', '', ']')],
    ['unclosed arrays', '['.repeat(100_000)],
    ['unclosed objects', '{"a":'.repeat(100_000)],
    ['arrays in a member', `{"Limit":${nest(100_000, '[', '', ']')}}`],
  ])('100,000 %s', async (_, body) => expectRefusal(await call(port, 'ListTables', body)));

  test('100,000 objects in an unused member', async () => {
    expect((await call(port, 'ListTables', nest(100_000, '{"a":', '1', '}'))).status).toBe(200);
  });

  test.each([33, 100, 10_000, 100_000])('attribute values %i deep', async depth => {
    const lists = nest(depth, '{"L":[', '{"S":"x"}', ']}');
    const maps = nest(depth, '{"M":{"a":', '{"S":"x"}', '}}');
    for (const value of [lists, maps])
      expectRefusal(await put(`{"pk":{"S":"a"},"sk":{"S":"a"},"deep":${value}}`));
  });

  test('values are refused with the message for their depth', async () => {
    const tooDeep = 'Nesting Levels have exceeded supported limits';
    const messageAt = async (depth: number) => {
      const value = nest(depth, '{"M":{"a":', '{"S":"x"}', '}}');
      const reply = await put(`{"pk":{"S":"deep"},"sk":{"S":"a"},"deep":${value}}`);
      return reply.status === 200 ? undefined : (JSON.parse(reply.body) as { message: string }).message;
    };
    expect(await messageAt(31)).toBeUndefined();
    for (const depth of [32, 61])
      expect(await messageAt(depth)).toMatch(new RegExp(`^1 validation error detected: ${tooDeep}`));
    for (const depth of [63, 100]) expect(await messageAt(depth)).toMatch(new RegExp(`^${tooDeep}`));
  });
});

describe('size', () => {
  const mega = 1024 * 1024;

  test.each([
    ['one string', `{"pk":{"S":"a"},"sk":{"S":"a"},"big":{"S":"${'x'.repeat(5 * mega)}"}}`],
    ['one number', `{"pk":{"S":"a"},"sk":{"S":"a"},"big":{"N":"${'9'.repeat(5 * mega)}"}}`],
    ['a hash key', `{"pk":{"S":"${'x'.repeat(5 * mega)}"},"sk":{"S":"a"}}`],
    ['a list', `{"pk":{"S":"a"},"sk":{"S":"a"},"big":{"L":[${'{"N":"1"},'.repeat(mega / 2)}{"N":"1"}]}}`],
    ['an attribute name', `{"pk":{"S":"a"},"sk":{"S":"a"},"${'x'.repeat(5 * mega)}":{"S":"a"}}`],
  ])('5 MB in %s', async (_, item) => expectRefusal(await put(item)));

  test('5 MB of spaces are accepted', async () => {
    expect((await call(port, 'ListTables', `${' '.repeat(5 * mega)}{}`)).status).toBe(200);
  });

  test('17 MB is over the limit', async () => {
    expectRefusal(await call(port, 'ListTables', `${' '.repeat(17 * mega)}{}`), 413);
  });

  test.each(['a', '(', 'NOT ', 'a.', 'a[', '#a ', ':a ', 'a AND ', '- ', "'", '"', 'size(', ' '])(
    '65 KB of %j as every expression',
    async piece => {
      const text = piece.repeat(Math.ceil(65_536 / piece.length));
      const key = { pk: { S: 'a' }, sk: { S: 'a' } };
      const table = { TableName: 'hostile' };
      for (const [operation, input] of [
        ['PutItem', { ...table, Item: key, ConditionExpression: text }],
        ['UpdateItem', { ...table, Key: key, UpdateExpression: text }],
        ['UpdateItem', { ...table, Key: key, UpdateExpression: `SET a = ${text}` }],
        ['GetItem', { ...table, Key: key, ProjectionExpression: text }],
        ['Query', { ...table, KeyConditionExpression: text }],
        ['Scan', { ...table, FilterExpression: text }],
        ['ExecuteStatement', { Statement: text }],
        ['ExecuteStatement', { Statement: `SELECT * FROM hostile WHERE ${text}` }],
      ] as const)
        expectRefusal(await call(port, operation, input));
    },
  );
});

describe('values', () => {
  test.each([
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '1e-999',
    '',
    ' ',
    '0x10',
    '1_000',
    '١',
    '1'.repeat(39),
  ])('%j is not a number', async text =>
    expectRefusal(await put(`{"pk":{"S":"a"},"sk":{"S":"a"},"n":{"N":"${text}"}}`)),
  );

  test.each([
    '{}',
    '{"pk":{"S":""},"sk":{"S":"a"}}',
    '{"pk":{"S":"a"},"sk":{"S":""}}',
    '{"pk":{"S":"a"}}',
    '{"pk":{"S":"a"},"sk":{"N":"1"}}',
    '{"pk":{"S":"a"},"sk":{"S":"a","N":"1"}}',
    '{"pk":{},"sk":{"S":"a"}}',
    '{"pk":{"X":"a"},"sk":{"S":"a"}}',
    '{"pk":null,"sk":null}',
    '{"pk":{"S":"a"},"sk":{"S":"a"},"b":{"B":"*"}}',
    '{"pk":{"S":"a"},"sk":{"S":"a"},"n":{"N":1}}',
    '{"pk":{"S":"a"},"sk":{"S":"a"},"n":NaN}',
    '{"pk":{"S":"a"},"sk":{"S":"a"},"ss":{"SS":[]}}',
    '{"pk":{"S":"a"},"sk":{"S":"a"},"ss":{"SS":["a","a"]}}',
  ])('item %s', async item => expectRefusal(await put(item)));

  test('lone surrogates are refused or kept, and break nothing', async () => {
    const halves = ['\\ud800', '\\udc00', 'a\\ud83d', '\\udc00\\ud800'];
    for (const half of halves) {
      expectWellFormed(await put(`{"pk":{"S":"${half}"},"sk":{"S":"${half}"},"${half}":{"S":"${half}"}}`));
      expectWellFormed(await call(port, 'DescribeTable', `{"TableName":"${half}"}`));
      expectWellFormed(
        await call(port, 'Scan', `{"TableName":"hostile","FilterExpression":"${half} = ${half}"}`),
      );
    }
  });

  test('__proto__ is an attribute like any other', async () => {
    const item =
      '{"pk":{"S":"p"},"sk":{"S":"p"},"__proto__":{"S":"x"},"constructor":{"M":{"__proto__":{"N":"1"}}}}';
    expect((await put(item)).status).toBe(200);
    const key = '{"pk":{"S":"p"},"sk":{"S":"p"}}';
    const { body } = await call(port, 'GetItem', `{"TableName":"hostile","Key":${key}}`);
    expect(JSON.parse(body)).toEqual({ Item: JSON.parse(item) });
    expect(({} as Record<string, unknown>).S).toBeUndefined();
  });

  const misfits = [
    0,
    -1,
    1.5,
    1e300,
    'x',
    '',
    true,
    null,
    [],
    [[]],
    [null],
    {},
    { '': {} },
    { S: 1 },
    { x: null },
  ];

  test.each(validRequests)('every member of %s with a value of the wrong type', async (operation, input) => {
    for (const member of Object.keys(input))
      for (const misfit of misfits) {
        const reply = await call(port, operation, { ...input, [member]: misfit });
        expectWellFormed(reply);
        expect([member, misfit, reply.status, reply.body]).not.toEqual([
          member,
          misfit,
          500,
          expect.anything(),
        ]);
      }
  });

  test.each(validRequests)('%s with a body that is not an object', async operation => {
    for (const body of ['null', 'true', '1', '"x"', '[]', '[{}]'])
      expectRefusal(await call(port, operation, body));
  });
});

describe('framing', () => {
  const good = requestBytes(signedHeaders('ListTables'), '{}').toString('latin1');
  const framed = (header: string, rest = '{}') =>
    good.replace(/content-length: \d+\r\n/, header).replace(/\{\}$/, rest);

  test.each([
    ['negative length', framed('content-length: -2\r\n')],
    ['length that is not a number', framed('content-length: two\r\n')],
    ['two lengths', framed('content-length: 2\r\ncontent-length: 3\r\n')],
    [
      'length and chunks',
      framed('content-length: 2\r\ntransfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'),
    ],
    ['chunk of no size', framed('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
    ['no request line', 'hello\r\n\r\n'],
    ['unknown method', good.replace('POST', 'FETCH')],
    ['header without a name', good.replace('\r\nhost', '\r\n: x\r\nhost')],
    ['NUL in a header', good.replace('localhost', 'local\0host')],
    ['TLS instead of HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s', async (_, text) => {
    expectRefusal(await exchange(port, Buffer.from(text, 'latin1')));
  });

  test.each(['connection: upgrade\r\nupgrade: websocket', 'expect: nothing', 'expect: 100-continue', 'x: 1'])(
    'no host, but %j',
    async header => {
      const line = await openLine(port);
      line.send(good.replace('host: localhost', header));
      const reply = await line.receive();
      expectWellFormed(reply.status === 100 ? await line.receive() : reply);
      line.socket.destroy();
    },
  );

  test('DNS rebinding is refused, a tool on this machine is not', async () => {
    const listFrom = (headers: Record<string, string>) =>
      exchange(port, requestBytes({ ...signedHeaders('ListTables'), ...headers }, '{}'));
    const origin = 'http://rebound.example:8000';
    const page = await listFrom({ host: 'rebound.example:8000', origin });
    expectRefusal(page);
    expect(page.body).toContain('AccessDeniedException');
    for (const host of ['localhost:8000', '127.0.0.1:8000', '[::1]:8000'])
      expect((await listFrom({ host, origin: 'file://' })).status).toBe(200);
    expect((await listFrom({ host: 'dynamodb:8000' })).status).toBe(200);
  });

  test('chunks are fine', async () => {
    const reply = await exchange(
      port,
      framed('transfer-encoding: chunked\r\n', '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n'),
    );
    expect(reply.status).toBe(200);
  });

  test('a length that is too short leaves garbage behind, after the response', async () => {
    const reply = await exchange(port, framed('content-length: 2\r\n', '{}garbage'));
    expectWellFormed(reply);
  });

  test('a length that is too long is a truncated body', async () => {
    const line = await openLine(port);
    line.socket.end(framed('content-length: 200\r\n'));
    expectRefusal(await line.receive());
  });
});

describe('random', () => {
  const anyRequest = fc.constantFrom(...validRequests);
  const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const edit = fc.record({
    at: position,
    removed: fc.nat({ max: 8 }),
    inserted: fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc
        .constantFrom('{', '}', '[', ']', '"', ',', ':', 'null', '1e999', '\\ud800', '""', '{}', '\r\n')
        .map(text => Buffer.from(text)),
    ),
  });

  function damage(bytes: Buffer, edits: { at: number; removed: number; inserted: Uint8Array }[]): Buffer {
    for (const { at, removed, inserted } of edits) {
      const start = Math.floor(at * bytes.length);
      bytes = Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]);
    }
    return bytes;
  }

  test('damaged bodies', async () => {
    const edits = fc.array(edit, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(anyRequest, edits, async ([operation, input], changes) => {
        const body = damage(Buffer.from(JSON.stringify(input)), changes);
        const reply = await exchange(port, requestBytes(signedHeaders(operation), body));
        expectWellFormed(reply);
        expect([reply.status, reply.body]).not.toEqual([500, expect.anything()]);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 1_000 : 100 },
    );
  });

  test('misplaced values', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, position, fc.jsonValue(), async ([operation, input], at, stranger) => {
        const reply = await call(port, operation, replaceNode(input, at, stranger));
        expectWellFormed(reply);
        expect([reply.status, reply.body]).not.toEqual([500, expect.anything()]);
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 1_000 : 100 },
    );
  });

  test('random bodies', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, fc.uint8Array({ maxLength: 200 }), async ([operation], body) => {
        expectRefusal(await exchange(port, requestBytes(signedHeaders(operation), body)));
      }),
      { numRuns: process.env.STAK_LONG_TESTS ? 1_000 : 70 },
    );
  });

  test('damaged requests, headers included', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRequest,
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        async ([operation, input], changes) => {
          const line = await openLine(port);
          line.socket.end(damage(requestBytes(signedHeaders(operation), JSON.stringify(input)), changes));
          // No answer is fine where no request can be made out, but the connection must come to its end.
          const reply = await line.receive().catch(() => undefined);
          if (reply) expectWellFormed(reply);
          await line.closed;
        },
      ),
      { numRuns: process.env.STAK_LONG_TESTS ? 1_000 : 150 },
    );
  });
});

// Walks the input as one list of nodes, so that every depth is hit as often as it has nodes.
function replaceNode(input: unknown, at: number, stranger: unknown): unknown {
  let nodes = 0;
  JSON.stringify(input, (_, value) => {
    nodes += 1;
    return value;
  });
  let left = Math.floor(at * nodes);
  const replaced = JSON.stringify(input, (_, value) => {
    left -= 1;
    return left === -1 ? stranger : value;
  });
  return JSON.parse(replaced);
}
