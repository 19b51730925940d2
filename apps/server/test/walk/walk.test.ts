import { isDeepStrictEqual } from 'node:util';
import { endUserScopes, manageScope } from '@stak/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type Attempt,
  type Credentials,
  collectExpired,
  missingTwin,
  prepareCredentials,
  shiftedClock,
  witnessOf,
} from './credentials.ts';
import {
  type Answer,
  type Fixture,
  logInAgain,
  type Operation,
  openFixture,
  type Request,
  send,
} from './fixture.ts';
import { requestOf, type Step, tokenOf } from './step.ts';
import { steps } from './steps.ts';

// Two customers, and every operation of the document. Before the owner does something that works, every caller who
// must not tries the same: the stranger with every kind of credential, the owner with too few rights, and callers with
// an expired token, a forged one or none. They get nothing, and nothing changes.

const systemPaths = new Set(['/healthz', '/readyz', '/openapi.json', '/docs', '/metrics']);

describe('a walk through every operation', () => {
  let fixture: Fixture;
  let credentials: Credentials;
  beforeAll(async () => {
    const clock = shiftedClock();
    clock.shift(-2 * 60 * 60_000);
    fixture = await openFixture(clock);
    const expired = await collectExpired(fixture);
    clock.shift(0);
    for (const customer of [fixture.owner, fixture.stranger]) await logInAgain(fixture, customer);
    await giveStrangerATenant(fixture);
    credentials = await prepareCredentials(fixture, expired);
  }, 60_000);
  afterAll(() => fixture?.server.stop());

  it('calls every operation', () => {
    const walked = new Set(steps.map(step => step.operation));
    const missed = fixture.operations.filter(({ id, path }) => !walked.has(id) && !systemPaths.has(path));
    expect(missed.map(({ id }) => id)).toEqual([]);
  });

  it('gives admins of tenants nothing that a write key cannot do', () => {
    const managed = fixture.operations.filter(({ endUserScope }) => endUserScope === manageScope);
    expect(managed.length).toBeGreaterThan(15);
    for (const { id, scope, path } of managed) {
      expect(['read', 'write'], id).toContain(scope);
      expect(path, id).toContain('/{tenant_id}');
    }
  });

  // The steps build on each other, as a customer's do: one test, in order.
  it('gives the owner their own data, and a stranger nothing', async () => {
    for (const step of steps) {
      if (step.operation === 'tenants.delete') await checkStorage(fixture);
      const request = requestOf(fixture, step);
      const path = `${step.operation} ${request.method} ${request.path}`;
      const operation = fixture.operations.find(one => one.id === step.operation)!;
      const witness = witnessOf(fixture, operation, request);
      const before = witness && (await read(fixture, witness));
      const attempts = await credentials.attempts(step, operation);
      await Promise.all(attempts.map(one => expectNothing(fixture, step, operation, request, one)));
      if (witness) expect(await read(fixture, witness), `${path} by others`).toEqual(before);
      const answer = await send(fixture.server.url, { ...request, token: tokenOf(fixture, step, 'owner') });
      const isExpected = step.status === undefined ? answer.status < 300 : answer.status === step.status;
      expect(isExpected, `${path} by the owner: ${answer.status} ${answer.text}`).toBe(true);
      if (isManagement(fixture, step))
        expect(await readTrail(fixture), path).toContainEqual(
          expect.objectContaining({
            action: step.operation,
            by: expect.stringMatching(/^usr_/),
            via: 'api_key',
            credentialId: expect.stringMatching(/^key_/),
            address: '127.0.0.1',
            target: expect.stringMatching(/^\/v1\//),
          }),
        );
      step.keep?.(fixture, answer);
    }
  }, 180_000);
});

async function expectNothing(
  fixture: Fixture,
  step: Step,
  operation: Operation,
  request: Request,
  { who, token, statuses, isForeign }: Attempt,
): Promise<void> {
  const answer = await send(fixture.server.url, { ...request, token });
  const path = `${step.operation} ${request.method} ${request.path} by ${who}: ${answer.status} ${answer.text}`;
  for (const trace of tracesOf(fixture)) expect(answer.text, path).not.toContain(trace);
  if (isForeign && step.stranger === 'own') return;
  expect(statuses, path).toContain(answer.status);
  expect(answer.headers.get('content-type'), path).toBe('application/problem+json');
  const twin = isForeign && answer.status === 404 && missingTwin(operation, request);
  if (!twin) return;
  const missing = await send(fixture.server.url, { ...twin, token });
  expect(comparable(answer), `${path}, and ${twin.path}`).toEqual(comparable(missing));
}

// A source's events are counted behind its back, up to a second later.
const counted = /"(?:eventCount":\d+|lastEventAt":"[^"]*"),?/g;

async function read(fixture: Fixture, request: Request) {
  const answer = await send(fixture.server.url, request);
  return comparable({ ...answer, text: answer.text.replace(counted, '') });
}
const comparable = ({ status, text }: Answer) => [status, text.replace(/"request_id":"[^"]*"/, '')];

// Counted change by change while everything happened, and then again by looking at every item.
async function checkStorage({ server }: Fixture): Promise<void> {
  const { storage } = server.services;
  let counted: Awaited<ReturnType<typeof storage.list>> = [];
  let unchanged = 0;
  // Until nothing has changed for longer than a count is behind, and than mails and retries wait.
  await vi.waitFor(
    async () => {
      const before = counted;
      counted = await storage.list();
      unchanged = isDeepStrictEqual(counted, before) ? unchanged + 1 : 0;
      expect(unchanged).toBeGreaterThanOrEqual(4);
    },
    { timeout: 80_000, interval: 4_000 },
  );
  await storage.requestRecount();
  await storage.countWhereNeeded(new AbortController().signal);
  expect(await storage.list()).toEqual(counted);
  const { services } = await storage.readAll();
  const names = ['accounts', 'agents', 'inbox', 'tasks', 'tenants', 'webhooks'];
  expect(services.map(({ service }) => service)).toEqual(names);
}

// Whatever an account does by its key that the route declares.
function isManagement(fixture: Fixture, { operation, status = 200, as }: Step): boolean {
  const { isAudited } = fixture.operations.find(one => one.id === operation)!;
  return as === undefined && isAudited && status < 300;
}

async function readTrail({ server, owner }: Fixture): Promise<unknown[]> {
  const answer = await send(server.url, {
    method: 'GET',
    path: '/v1/audit?limit=5',
    token: owner.keys.admin,
  });
  return (answer.json as { data: unknown[] }).data;
}

// A user of another tenant, with the same name: code that forgets the tenant finds the wrong one.
async function giveStrangerATenant({ server, stranger, known }: Fixture): Promise<void> {
  const token = stranger.keys.admin;
  const post = (path: string, body: unknown) => send(server.url, { method: 'POST', path, token, body });
  await post('/v1/tenants', { tenant_id: 'strange', name: 'Strange', status: 'active' });
  await post('/v1/tenants/strange/users', {
    user_id: 'ann',
    display_name: 'Another Ann',
    role: 'admin',
  });
  const minted = await post('/v1/tenants/strange/tokens', { sub: 'ann', scope: endUserScopes.join(' ') });
  known.set('stranger_user_token', (minted.json as { token: string }).token);
}

// Only the owner's answers may hold these. All that the steps make has a name that begins with `Walked`.
const tracesOf = ({ owner }: Fixture): string[] => [
  owner.email,
  owner.keys.admin,
  'Walked',
  'ann@example.com',
  'Between us alone',
  'Everyone of ours',
];
