import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fixture, logInAgain, openFixture, send } from '../walk/fixture.ts';
import { collectIds, type Documented, readDocument, requestFor } from './documented-requests.ts';

// Sends what no program would send to every operation that takes a body. The answer is a problem or a success, at once, and
// nothing but the request is affected.

let fixture: Fixture;
const operations = readDocument();
const known = new Map<string, string>();
beforeAll(async () => {
  fixture = await openFixture();
  const { server, owner } = fixture;
  const names = new Set(operations.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
  const post = async (path: string, body: object) => {
    const { json } = await send(server.url, { method: 'POST', path, token: owner.keys.admin, body });
    collectIds(json, names, known);
    return json as Record<string, string>;
  };
  await post('/v1/tenants', { tenant_id: 'doors', name: 'Doors', status: 'active' });
  await post('/v1/tenants/doors/users', { user_id: 'ann', display_name: 'Ann' });
  const minted = await post('/v1/tenants/doors/tokens', {
    sub: 'ann',
    scope: 'tasks:write agents:chat inbox:write',
  });
  fixture.known.set('end_user_token', minted.token!);
  const { sourceId } = await post('/v1/sources', { name: 'Doors' });
  known.set('source_id', sourceId!);
}, 60_000);
afterAll(() => fixture?.server.stop());

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const wide = (count: number, part: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => part(i)).join();

// JSON of every shape. `withField` puts a value where a field of the example is.
const bodies: Readonly<Record<string, (example: string) => Uint8Array>> = {
  'lists in lists': () => text('['.repeat(100_000)),
  'closed lists in lists': () => text('['.repeat(50_000) + ']'.repeat(50_000)),
  'objects in objects': () => text('{"a":'.repeat(30_000)),
  'many names': () => text(`{${wide(19_000, i => `"n${i}":0`)}}`),
  'many empty objects': () => text(`{"a":[${wide(60_000, () => '{}')}]}`),
  'one name many times': () => text(`{${wide(19_000, () => '"a":0')}}`),
  'the example twice': example => text(example.replace(/^\{/, `{${example.slice(1, -1)},`)),
  'a prototype': example => text(example.replace(/^\{/, '{"__proto__":{"polluted":true},')),
  'a prototype in escapes': example =>
    text(example.replace(/^\{/, '{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":true},')),
  'a constructor': example => text(example.replace(/^\{/, '{"constructor":{"prototype":{"polluted":true}},')),
  'a huge number': example => text(example.replace(/:\s*\d+/, `:1${'0'.repeat(100_000)}`)),
  'many digits': () => text(`{"a":0.${'1'.repeat(200_000)}}`),
  infinity: example => text(example.replace(/:\s*\d+/, ':1e999')),
  'an unsafe integer': example => text(example.replace(/:\s*\d+/, ':9007199254740993')),
  'half a character': example => text(example.replace(/"([^"]*)"(?=[,}])/, '"\\ud800"')),
  'a null character': example => text(example.replace(/"([^"]*)"(?=[,}])/, '"\\u0000"')),
  'no UTF-8': example => Uint8Array.from([...text(example), 0xff, 0xfe]),
  'an overlong slash': () => Uint8Array.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x30, 0x7d]),
  'UTF-16': example => new Uint8Array(Buffer.from(example, 'utf16le')),
  'a byte order mark': example => text(`\ufeff${example}`),
  'a null': () => text('null'),
  'a text': () => text('"text"'),
  nothing: () => text(''),
};

const types = [
  'application/json',
  'application/json; charset=utf-7',
  'text/plain',
  'application/x-www-form-urlencoded',
];

const slowestMs = 10_000; // most take milliseconds; the first query of the lake starts a process of DuckDB

async function knock(operation: Documented, what: string, body: Uint8Array, type: string): Promise<void> {
  const { server, owner } = fixture;
  const plain = requestFor(operation, { path: known, body: known });
  const token = operation.auth === 'endUser' ? fixture.known.get('end_user_token')! : tokenFor(operation);
  const beganMs = performance.now();
  const answer = await send(server.url, {
    ...plain,
    ...(token && { token }),
    headers: { ...plain.headers, 'content-type': type },
    body,
  });
  const tookMs = performance.now() - beganMs;
  const about = `${operation.id}, ${what}, ${type}: ${answer.status} ${answer.text.slice(0, 300)}`;
  if (answer.status >= 500) expect([501, 502, 503], about).toContain(answer.status);
  if (answer.status >= 400)
    expect(answer.headers.get('content-type'), about).toMatch(/^application\/(problem\+)?json/);
  if (answer.status >= 400) expect(answer.text.length, about).toBeLessThan(20_000);
  expect(tookMs, about).toBeLessThan(slowestMs);
  expect(({} as { polluted?: true }).polluted, about).toBeUndefined();
  const isIn =
    (await send(server.url, { method: 'GET', path: '/v1/me', token: owner.session })).status === 200;
  if (!isIn) await logInAgain(fixture, owner);
}

const tokenFor = ({ auth }: Documented): string | undefined => {
  if (auth === 'public' || auth === 'provider') return undefined;
  return auth === 'session' || auth === 'person' ? fixture.owner.session : fixture.owner.keys.admin;
};

const takingBodies = operations.filter(({ isRaw, example }) => isRaw || example !== undefined);

test('is every door', () => expect(takingBodies.length).toBeGreaterThan(90));

test.each(Object.entries(bodies))(
  'survives %s at every door',
  async (what, make) => {
    for (const operation of takingBodies) {
      const example = JSON.stringify(requestFor(operation, { path: known, body: known }).body ?? { a: 1 });
      await knock(operation, what, make(example), types[0]!);
    }
  },
  120_000,
);

test('takes JSON as JSON only', async () => {
  for (const type of types.slice(1))
    for (const operation of takingBodies) {
      const example = JSON.stringify(requestFor(operation, { path: known, body: known }).body ?? { a: 1 });
      await knock(operation, 'another type', text(example), type);
    }
}, 120_000);
