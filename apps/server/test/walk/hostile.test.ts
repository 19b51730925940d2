import { manualClock } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  type Fixture,
  isForPeople,
  logInAgain,
  type Operation,
  openFixture,
  type Request,
  send,
} from './fixture.ts';
import { createSamples } from './samples.ts';
import { requestOf } from './step.ts';
import { steps } from './steps.ts';

// Sends to every operation there is what nobody should send. The answer is the documented problem, never a 500.

const clock = manualClock(Date.parse('2026-03-01T12:00:00Z'));
let fixture: Fixture;
let expired: string;
beforeAll(async () => {
  fixture = await openFixture(clock);
  expired = fixture.owner.session;
  clock.set(clock.now() + 16 * 60_000);
  await logInAgain(fixture, fixture.owner);
  await createSamples(fixture);
}, 60_000);
afterAll(() => fixture?.server.stop());

const isGuarded = ({ auth }: Operation) => auth !== 'public' && auth !== 'provider';

const hostileTexts = [
  '..%2F..%2Fetc%2Fpasswd',
  '%00',
  '%23',
  '%F0%28',
  '__proto__',
  'constructor',
  "'%20OR%201=1--",
  '%7B%7B7*7%7D%7D',
  'x'.repeat(3000),
  encodeURIComponent('💥\u202e\ufeff'),
];

const hostileValues: unknown[] = [
  '',
  '\u0000',
  'x#y',
  '\ud800',
  '💥'.repeat(5000),
  'x'.repeat(100_000),
  -1,
  1e308,
  null,
  true,
  [],
  {},
  { '': 1 },
  { $ne: null },
  ['__proto__'],
];

describe.each([
  ['no token', () => undefined],
  ['a token that is none', () => 'fh_live_nobody-has-this-key'],
  ['an expired token', () => expired],
])('%s', (_name, tokenOf) => {
  it('is 401 without a token on every route that needs one', async () => {
    for (const operation of fixture.operations.filter(isGuarded)) {
      const token = tokenOf();
      const answer = await ask({ ...plainRequest(operation), ...(token && { token }) });
      expectProblem(answer, [401], operation);
    }
  });
});

it('is 403 with too small a scope, or as the wrong kind of caller', async () => {
  for (const operation of fixture.operations.filter(isGuarded)) {
    const isForRead = operation.scope === 'read' && !isForPeople(operation);
    if (isForRead || operation.auth === 'endUser') continue;
    const answer = await ask({ ...plainRequest(operation), token: fixture.owner.keys.read });
    expectProblem(answer, [403], operation);
  }
});

it('is 400 for an unknown field', async () => {
  for (const operation of jsonOperations()) {
    const { path, body } = sampleOf(operation);
    const answer = await asOwner(operation, { path, body: { ...(body as object), surprise: 1 } });
    // Where any field may come, there is none that is unknown.
    if (!keepsUnknownFields.has(operation.id)) expectProblem(answer, [400], operation);
  }
});

// Settings keep what a newer version wrote; a JSON Schema has the vocabulary of its writer; the AI SDK sends what it
// likes.
const keepsUnknownFields = new Set([
  'tenants.replaceSettings',
  'tenants.updateSettings',
  'tenants.putPropertiesSchema',
  'agents.sendUiMessage',
]);

it('is 413 for a body beyond the limit', async () => {
  const body = new TextEncoder().encode(JSON.stringify({ surprise: 'x'.repeat(12 * 1024 * 1024) }));
  const headers = { 'content-type': 'application/json' };
  for (const operation of jsonOperations())
    expectProblem(await asOwner(operation, { body, headers }), [413], operation);
});

it('is a problem for a body that is not JSON', async () => {
  for (const operation of jsonOperations())
    for (const text of ['{', '[1,', '{"__proto__":{}}', '"'.repeat(1000)]) {
      const body = new TextEncoder().encode(text);
      const headers = { 'content-type': 'application/json' };
      expectProblem(await asOwner(operation, { body, headers }), [400], operation);
    }
});

it('survives hostile texts in every part of a path and in every query', async () => {
  for (const operation of fixture.operations.filter(one => one.path.startsWith('/v1/')))
    for (const text of hostileTexts) {
      const path = operation.path.replaceAll(/\{\w+\}/g, text);
      const isQueried = operation.method === 'GET';
      const answer = await asOwner(operation, {
        path: isQueried ? `${path}?limit=${text}&cursor=${text}` : path,
      });
      expectNoFailure(answer, operation);
    }
}, 120_000);

it('survives hostile values in every field', async () => {
  for (const operation of jsonOperations()) {
    const { path, body } = sampleOf(operation);
    for (const variant of variantsOf(body))
      expectNoFailure(await asOwner(operation, { path, body: variant }), operation);
  }
}, 120_000);

it('survives versions that nobody issued', async () => {
  const conditional = new Set(
    fixture.server.routes.flatMap(route => (route.conditional ? [route.operationId] : [])),
  );
  expect(conditional.size).toBeGreaterThan(20);
  for (const operation of fixture.operations.filter(one => conditional.has(one.id)))
    for (const tag of ['"vabc"', `"v${'9'.repeat(400)}"`, '"v-1"', '"v1.5"', 'W/"v1"', '"v1", "v2"', '']) {
      const { path, body } = sampleOf(operation);
      expectNoFailure(await asOwner(operation, { path, body, headers: { 'if-match': tag } }), operation);
    }
});

// The same body with one field, at any depth, made hostile.
function* variantsOf(body: unknown): Generator<unknown> {
  if (Array.isArray(body)) for (const one of variantsOf(body[0])) yield [one, ...body.slice(1)];
  else if (typeof body === 'object' && body !== null)
    for (const [name, inner] of Object.entries(body)) {
      for (const value of hostileValues) yield { ...body, [name]: value };
      for (const one of variantsOf(inner)) yield { ...body, [name]: one };
    }
}

// Signing out or deleting the account would end the test; they have tests of their own.
const endings = new Set([
  'accounts.deleteMe',
  'accounts.logOut',
  'accounts.endSessions',
  'accounts.changePassword',
  'accounts.switchOrganisation',
]);
const jsonOperations = () =>
  fixture.operations.filter(({ hasJsonBody, id }) => hasJsonBody && !endings.has(id));

function sampleOf(operation: Operation): Request {
  const step = steps.find(one => one.operation === operation.id);
  return step ? requestOf(fixture, step) : { ...plainRequest(operation), body: {} };
}

const plainRequest = ({ method, path }: Operation): Request => ({
  method: method === 'ANY' ? 'POST' : method,
  path: path.replaceAll(/\{\w+\}/g, 'something'),
});

function asOwner(operation: Operation, request: Partial<Request>): Promise<Answer> {
  const { owner } = fixture;
  const isForSession =
    isForPeople(operation) || steps.some(step => step.operation === operation.id && step.as === 'session');
  const ofOwner = isForSession ? owner.session : owner.keys.admin;
  const token = operation.auth === 'endUser' ? fixture.known.get('end_user_token') : ofOwner;
  const isEnding = endings.has(operation.id);
  return ask({
    ...plainRequest(operation),
    ...request,
    headers: { 'if-match': '"1"', ...request.headers },
    ...(isGuarded(operation) && { token: isEnding ? 'nobody' : token }),
  });
}

const ask = (request: Request) => send(fixture.server.url, request);

function expectProblem(answer: Answer, statuses: readonly number[], { id, problemType }: Operation): void {
  expect(statuses, `${id}: ${answer.status} ${answer.text.slice(0, 300)}`).toContain(answer.status);
  expect(answer.headers.get('content-type'), id).toContain(problemType);
  const problem = { status: answer.status, code: expect.any(String) };
  // OpenAI's clients and those of A2A expect the errors of their protocols.
  const isRpc = 'jsonrpc' in Object(answer.json);
  const other = { error: { message: expect.any(String), code: expect.any(isRpc ? Number : String) } };
  expect(answer.json, id).toMatchObject(problemType === 'application/json' ? other : problem);
}

// 501 is an integration that is not configured, 503 a place that is busy: both are documented problems.
function expectNoFailure(answer: Answer, operation: Operation): void {
  if (answer.status >= 500) expectProblem(answer, [501, 503], operation);
}
