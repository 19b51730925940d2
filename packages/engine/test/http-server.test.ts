import { afterEach, describe, expect, test } from 'vitest';
import { conditionFailed, DynamoError, validationError } from '../src/errors.ts';
import {
  createHttpServer,
  type Executor,
  type HttpServer,
  type HttpServerOptions,
} from '../src/http/server.ts';
import type { Item } from '../src/values/attribute-value.ts';
import {
  call,
  exchange,
  expectWellFormed,
  openLine,
  requestBytes,
  signature,
  signedHeaders,
  typeOf,
} from './http-exchange.ts';

const open: HttpServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(execute: Executor['execute'], options: HttpServerOptions = {}): Promise<number> {
  const server = createHttpServer({ execute }, options);
  const { port } = await server.listen();
  open.push(server);
  return port;
}

const nothing = async () => ({});
const echo = async (operation: string, input: unknown) => ({
  TableNames: [operation, JSON.stringify(input)],
});
const failing = (error: unknown) => () => Promise.reject(error);

function defer<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>(done => {
    resolve = done;
  });
  return { promise, resolve };
}

// An operation that says when it has begun and ends when the test wants it to.
function stall() {
  const started = defer<void>();
  const work = defer<object>();
  const execute = () => {
    started.resolve();
    return work.promise;
  };
  return { started, work, execute };
}

const listTables = requestBytes(signedHeaders('ListTables'), '{}');

describe('protocol', () => {
  test('a request reaches the engine and its output comes back', async () => {
    const port = await serve(echo);
    const reply = await call(port, 'ListTables', { Limit: 7 });
    expectWellFormed(reply);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/x-amz-json-1.0');
    expect(JSON.parse(reply.body)).toEqual({ TableNames: ['ListTables', '{"Limit":7}'] });
  });

  test('request ids differ', async () => {
    const port = await serve(nothing);
    const ids = new Set<string>();
    for (let i = 0; i < 5; i += 1)
      ids.add((await exchange(port, listTables)).headers.get('x-amzn-requestid')!);
    expect(ids.size).toBe(5);
  });

  test('GET is the health check', async () => {
    const port = await serve(nothing, { region: 'eu-west-1' });
    const reply = await exchange(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(reply.status).toBe(200);
    expect(reply.body).toBe('healthy: dynamodb.eu-west-1.amazonaws.com ');
  });

  test.each(['PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is not part of the protocol', async method => {
    const port = await serve(nothing);
    const reply = await exchange(port, `${method} / HTTP/1.1\r\nhost: x\r\norigin: http://a\r\n\r\n`);
    expect(reply.status).toBe(404);
    expectWellFormed(reply);
    // Without CORS headers no web page can reach a store that listens on the visitor's own machine.
    expect([...reply.headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([]);
  });

  test.each(['application/json', 'application/x-amz-json-1.1', 'application/x-amz-json-1.0; charset=utf-8'])(
    'accepts %s',
    async type => {
      const port = await serve(nothing);
      const headers = { ...signedHeaders('ListTables'), 'content-type': type };
      const reply = await exchange(port, requestBytes(headers, '{}'));
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe(type.split(';')[0]);
    },
  );

  test.each(['text/plain', 'application/jsonx', ''])('refuses %j', async type => {
    const port = await serve(nothing);
    const reply = await exchange(
      port,
      requestBytes({ ...signedHeaders('ListTables'), 'content-type': type }, '{}'),
    );
    expect(reply.status).toBe(404);
    expectWellFormed(reply);
  });

  test.each(['', 'hi', '{', '{"a":NaN}', '\ufeff{}', '{"a":1}}'])('%j is not JSON', async body => {
    const port = await serve(nothing);
    const reply = await call(port, 'ListTables', body);
    expectWellFormed(reply);
    expect(reply.status).toBe(400);
    expect(typeOf(reply)).toBe('com.amazon.coral.service#SerializationException');
  });

  test('bytes that are not UTF-8 are refused rather than replaced', async () => {
    const port = await serve(nothing);
    const body = Buffer.from('{"ExclusiveStartTableName":"a\u00ffb"}', 'latin1');
    const reply = await exchange(port, requestBytes(signedHeaders('ListTables'), body));
    expect(typeOf(reply)).toBe('com.amazon.coral.service#SerializationException');
  });

  test.each([
    'ListTables',
    'DynamoDB_20120810',
    'DynamoDB_20120810.ListTable',
    'DynamoDB_20120810.__proto__',
    'DynamoDB_20111205.ListTables',
    'DynamoDB_20120810.GetRecords',
    'DynamoDBStreams_20120810.ListTables',
  ])('target %s is unknown', async target => {
    const port = await serve(nothing);
    const headers = { ...signedHeaders('ListTables'), 'x-amz-target': target };
    const reply = await exchange(port, requestBytes(headers, '{}'));
    expectWellFormed(reply);
    expect(reply.status).toBe(400);
    expect(typeOf(reply)).toBe('com.amazon.coral.service#UnknownOperationException');
  });

  test.each(['', 'X', 'Bearer abc'])('authorization %j is not a signature', async authorization => {
    const port = await serve(nothing);
    const reply = await exchange(port, requestBytes({ ...signedHeaders('ListTables'), authorization }, '{}'));
    expect(JSON.parse(reply.body)).toEqual({
      __type: 'com.amazon.coral.service#MissingAuthenticationTokenException',
      message: 'Request is missing Authentication Token',
    });
  });

  test('a signed URL is accepted, but not both', async () => {
    const port = await serve(nothing);
    const signedUrl = (authorization: string) =>
      exchange(
        port,
        requestBytes({ ...signedHeaders('ListTables'), authorization }, '{}')
          .toString('latin1')
          .replace('POST / ', 'POST /?X-Amz-Date=1&X-Amz-Algorithm=AWS4-HMAC-SHA256 '),
      );
    expect((await signedUrl('')).status).toBe(200);
    expect(typeOf(await signedUrl(signature))).toBe('com.amazon.coral.service#InvalidSignatureException');
  });

  test('a body in an unknown encoding is refused', async () => {
    const port = await serve(nothing);
    const headers = { ...signedHeaders('ListTables'), 'content-encoding': 'br' };
    const reply = await exchange(port, requestBytes(headers, '{}'));
    expectWellFormed(reply);
    expect(reply.status).toBe(415);
  });

  test('a body at the limit passes, one byte more is 413', async () => {
    const port = await serve(nothing, { maxBodyBytes: 100 });
    const bodyOf = (bytes: number) => '{}'.padEnd(bytes, ' ');
    expect((await call(port, 'ListTables', bodyOf(100))).status).toBe(200);
    const reply = await call(port, 'ListTables', bodyOf(101));
    expectWellFormed(reply);
    expect(reply.status).toBe(413);
    const flood = await call(port, 'ListTables', bodyOf(10_000));
    expect(flood.status).toBe(413);
  });
});

describe('errors', () => {
  const item: Item = { pk: { S: 'a' }, raw: { B: new Uint8Array([1, 2, 3]) } };

  test.each([
    [validationError('bad'), { __type: 'com.amazon.coral.validate#ValidationException', message: 'bad' }],
    [
      new DynamoError('ResourceNotFoundException', 'gone'),
      { __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', message: 'gone' },
    ],
    [
      new DynamoError('SerializationException', 'NUMBER_VALUE cannot be converted to String'),
      {
        __type: 'com.amazon.coral.service#SerializationException',
        Message: 'NUMBER_VALUE cannot be converted to String',
      },
    ],
    [
      conditionFailed(item),
      {
        __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
        message: 'The conditional request failed',
        Item: { pk: { S: 'a' }, raw: { B: 'AQID' } },
      },
    ],
    [
      new DynamoError('TransactionCanceledException', 'cancelled', {
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'ConditionalCheckFailed', Message: 'no', Item: item },
        ],
      }),
      {
        __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
        Message: 'cancelled',
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'ConditionalCheckFailed', Message: 'no', Item: { pk: { S: 'a' }, raw: { B: 'AQID' } } },
        ],
      },
    ],
  ])('%s', async (error, body) => {
    const reply = await call(await serve(failing(error)), 'ListTables', {});
    expectWellFormed(reply);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body)).toEqual(body);
  });

  test.each([new Error('secret'), new RangeError('Maximum call stack'), 'text', undefined, null])(
    'a bug (%s) is logged and answered without its text',
    async bug => {
      const logged: object[] = [];
      const log = { error: (details: object) => void logged.push(details) };
      const reply = await call(await serve(failing(bug), { log }), 'ListTables', {});
      expectWellFormed(reply);
      expect(reply.status).toBe(500);
      expect(JSON.parse(reply.body)).toEqual({
        __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
        message: 'Internal server error',
      });
      expect(logged).toEqual([{ err: bug }]);
    },
  );

  test('output that cannot be written as JSON is a bug too', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const reply = await call(await serve(async () => cycle), 'ListTables', {});
    expect(reply.status).toBe(500);
  });
});

describe('connections', () => {
  test('one connection carries many requests', async () => {
    const line = await openLine(await serve(echo));
    for (let i = 0; i < 3; i += 1) {
      line.send(requestBytes(signedHeaders('ListTables'), JSON.stringify({ Limit: i + 1 })));
      expect((await line.receive()).body).toContain(`${i + 1}`);
    }
    line.socket.destroy();
  });

  test('pipelined requests are answered in order, whichever finishes first', async () => {
    const slow = defer<object>();
    let calls = 0;
    const port = await serve(async () => {
      calls += 1;
      if (calls === 1) return slow.promise;
      slow.resolve({ TableNames: ['first'] });
      return { TableNames: ['second'] };
    });
    const line = await openLine(port);
    line.send(Buffer.concat([listTables, listTables]));
    expect((await line.receive()).body).toContain('first');
    expect((await line.receive()).body).toContain('second');
    line.socket.destroy();
  });

  test('a body that arrives byte by byte is assembled', async () => {
    const line = await openLine(await serve(echo));
    const bytes = requestBytes(signedHeaders('ListTables'), '{"Limit": 12}');
    for (const byte of bytes) {
      line.send(Uint8Array.of(byte));
      await new Promise(setImmediate);
    }
    expect((await line.receive()).body).toContain('12');
    line.socket.destroy();
  });

  test('a client that disconnects in the middle of its body changes nothing', async () => {
    let calls = 0;
    const port = await serve(async () => {
      calls += 1;
      return {};
    });
    const line = await openLine(port);
    line.send(listTables.subarray(0, -1));
    line.socket.destroy();
    await line.closed;
    expect((await exchange(port, listTables)).status).toBe(200);
    expect(calls).toBe(1);
  });

  test('a body that ends before its content-length is refused', async () => {
    const line = await openLine(await serve(nothing));
    line.socket.end(listTables.subarray(0, -1));
    const reply = await line.receive();
    expectWellFormed(reply);
    expect(reply.status).toBe(400);
  });

  test('a body that never arrives times out', async () => {
    const line = await openLine(await serve(nothing, { requestTimeoutMs: 50 }));
    line.send(listTables.subarray(0, -1));
    const reply = await line.receive();
    expectWellFormed(reply);
    expect(reply.status).toBe(408);
  });

  test('oversized headers are refused', async () => {
    const line = await openLine(await serve(nothing));
    line.send(`POST / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(100_000)}\r\n\r\n`);
    const reply = await line.receive();
    expectWellFormed(reply);
    expect(reply.status).toBe(431);
  });

  test('garbage after a valid request does not mix with its response', async () => {
    const port = await serve(nothing);
    const line = await openLine(port);
    line.send(Buffer.concat([listTables, Buffer.from('\0\0\0 nonsense\r\n\r\n')]));
    await line.closed;
    expect((await exchange(port, listTables)).status).toBe(200);
  });
});

describe('life cycle', () => {
  test('a port in use rejects listen', async () => {
    const port = await serve(nothing);
    const second = createHttpServer({ execute: nothing }, { port });
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  test('close finishes what is in flight and accepts nothing new', async () => {
    const { started, work, execute } = stall();
    const server = createHttpServer({ execute });
    const { port } = await server.listen();
    const idle = await openLine(port);
    const busy = await openLine(port);
    busy.send(listTables);
    await started.promise;
    const closing = server.close();
    await expect(openLine(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    work.resolve({ TableNames: ['done'] });
    const reply = await busy.receive();
    expect(reply.body).toContain('done');
    expect(reply.headers.get('connection')).toBe('close');
    await Promise.all([closing, idle.closed, busy.closed]);
  });

  test('close waits for the operation of a client that has disconnected', async () => {
    const { started, work, execute } = stall();
    const server = createHttpServer({ execute });
    const { port } = await server.listen();
    const line = await openLine(port);
    line.send(listTables);
    await started.promise;
    line.socket.destroy();
    await line.closed;
    let closed = false;
    const closing = server.close().then(() => {
      closed = true;
    });
    await new Promise(setImmediate);
    expect(closed).toBe(false);
    work.resolve({});
    await closing;
  });

  test('close does not wait for ever', async () => {
    const { started, execute } = stall();
    const server = createHttpServer({ execute }, { closeTimeoutMs: 20 });
    const line = await openLine((await server.listen()).port);
    line.send(listTables);
    await started.promise;
    await server.close();
    await line.closed;
  });
});
