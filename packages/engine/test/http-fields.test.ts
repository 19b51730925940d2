import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { createHttpServer, type HttpServer } from '../src/http/server.ts';
import { inputShapes } from '../src/validation/input-shapes.ts';
import type { Shape, StructureShape } from '../src/validation/shape.ts';
import { call, hashTable, openEngine, streaming } from './engine-fixture.ts';
import { openLine, requestBytes, signedHeaders, typeOf } from './http-exchange.ts';

// Every field of every operation, once with each thing that it should not be. `fields.test.ts` proves that the shapes
// are those of the SDK.

let engine: Engine;
let server: HttpServer;
let port: number;
const bugs: object[] = [];

beforeAll(async () => {
  engine = await openEngine();
  server = createHttpServer(engine, { log: { error: details => void bugs.push(details) } });
  ({ port } = await server.listen());
  await call(engine, 'CreateTable', hashTable('notes', streaming()));
});
afterAll(async () => {
  await server.close();
  await engine.close();
});

class Raw {
  constructor(readonly json: string) {}
}
const deep = (levels: number) => new Raw(`${'{"M":{"a":'.repeat(levels)}{"S":"x"}${'}}'.repeat(levels)}`);
const wrong: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  new Raw('1e999'),
  new Raw('123456789012345678901234567890'),
  '',
  'x'.repeat(3000),
  '\ud800',
  '\u0000',
  '__proto__',
  [],
  [null],
  [[]],
  {},
  { a: null },
  { S: 1 },
  { N: '1e99999' },
  { B: '!' },
  { SS: [] },
  new Raw('{"__proto__":{"S":"x"}}'),
  deep(40),
];

const texts: Record<string, string> = { TableName: 'notes', IndexName: 'byColor', S3Bucket: 'bucket' };

// An input with every field in its place, so that a wrong one is reached.
function sample(shape: Shape, name = ''): unknown {
  switch (shape.kind) {
    case 'string':
      return shape.values?.[0] ?? texts[name] ?? 'pk'.padEnd(shape.min ?? 2, 'x');
    case 'integer':
    case 'long':
      return shape.min ?? 1;
    case 'timestamp':
      return 1;
    case 'boolean':
      return false;
    case 'value':
      return { S: 'a' };
    case 'attributes':
      return { pk: { S: 'a' } };
    case 'refused':
      return undefined;
    case 'list':
      return Array.from({ length: Math.max(1, shape.min ?? 1) }, () => sample(shape.of));
    case 'map':
      return { notes: sample(shape.of) };
    case 'structure':
      return sampleStructure(shape);
  }
}

const sampleStructure = (shape: StructureShape) =>
  Object.fromEntries(
    shape.entries.filter(({ shape }) => shape.required).map(({ name, shape }) => [name, sample(shape, name)]),
  );

type Put = (value: unknown) => unknown;
type Field = { path: string; put: Put };

function fieldsOf(shape: Shape, path: string, put: Put): Field[] {
  if (shape.kind === 'list') return fieldsOf(shape.of, `${path}[]`, value => put([value]));
  if (shape.kind === 'map') return fieldsOf(shape.of, `${path}.*`, value => put({ notes: value }));
  if (shape.kind !== 'structure') return [];
  return shape.entries.flatMap(({ name, shape: member }) => {
    const putMember: Put = value => put({ ...sampleStructure(shape), [name]: value });
    const field = { path: `${path}.${name}`, put: putMember };
    return [field, ...fieldsOf(member, field.path, putMember)];
  });
}

const toText = (input: unknown): string => {
  const raws: string[] = [];
  const text = JSON.stringify(input, (_, value) =>
    value instanceof Raw ? `raw-${raws.push(value.json) - 1}` : value,
  );
  return text.replace(/"raw-(\d+)"/g, (_, index) => raws[Number(index)]!);
};

it.each(Object.entries(inputShapes))(
  '%s answers every wrong field with an error of the client',
  async (name, shape) => {
    const line = await openLine(port);
    for (const { path, put } of fieldsOf(shape, name, value => value))
      for (const value of wrong) {
        const body = toText(put(value));
        line.send(requestBytes(signedHeaders(name), body));
        const reply = await line.receive();
        // Compared only if something is wrong: there are some ten thousand.
        const isAnswer = reply.status === 200 || (reply.status === 400 && typeOf(reply) !== '');
        if (!isAnswer || bugs.length > 0)
          expect({ path, body, status: reply.status, reply: reply.body, bugs }).toBeUndefined();
      }
    line.socket.destroy();
    await line.closed;
  },
);
