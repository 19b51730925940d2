import { endUserScopes } from '@stak/tenants';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeEverything } from '../everything.ts';
import { type Fixture, logInAgain, openFixture, send } from '../walk/fixture.ts';
import { collectIds, type Documented, namesIn, readDocument, requestFor } from './documented-requests.ts';

// A stranger asks for everything of another account, by every operation of the document: with the owner's ids in paths,
// queries and bodies, all of them or one among their own. They see nothing of the owner's, and change nothing.

let fixture: Fixture;
const operations = readDocument();
const names = new Set(operations.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
const ofOwner = new Map<string, string>();
const ofStranger = new Map<string, string>();

beforeAll(async () => {
  fixture = await openFixture();
  await makeEverything(fixture);
  for (const [name, value] of fixture.known) if (names.has(name)) ofOwner.set(name, value);
  await harvest(fixture.owner.keys.admin, ofOwner);
  for (const token of [fixture.known.get('end_user_token')!, fixture.owner.session])
    await harvest(token, ofOwner);
  await settleIn(fixture);
}, 120_000);
afterAll(() => fixture?.server.stop());

const reads = operations.filter(
  ({ method, auth }) => method === 'GET' && auth !== 'public' && auth !== 'provider',
);

// Collects what the caller can read, until nothing new is found: ids lead to more.
async function harvest(token: string, found: Map<string, string>): Promise<void> {
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const operation of reads) {
      if (!namesIn(operation).every(name => found.has(name))) continue;
      const { path } = requestFor(operation, { path: found, body: new Map() });
      const { status, json } = await send(fixture.server.url, { method: 'GET', path, token });
      if (status === 200) collectIds(json, names, found);
    }
  }
}

// The stranger has one of the usual things, too.
async function settleIn({ server, stranger, known }: Fixture): Promise<void> {
  const post = async (path: string, body: object, token = stranger.keys.admin) => {
    const answer = await send(server.url, { method: 'POST', path, token, body });
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    collectIds(answer.json, names, ofStranger);
    return answer.json as Record<string, string>;
  };
  await post('/v1/tenants', { tenant_id: 'strange', name: 'Strange', status: 'active' });
  await post('/v1/tenants/strange/users', { user_id: 'ann', display_name: 'Another Ann', role: 'admin' });
  const { token } = await post('/v1/tenants/strange/tokens', { sub: 'ann', scope: endUserScopes.join(' ') });
  known.set('stranger_user_token', token!);
  const { sourceId } = await post('/v1/sources', { name: 'Strange' });
  await post(`/v1/sources/${sourceId}/connections`, {
    name: 'Strange',
    destinationUrl: 'https://example.com/x',
  });
  await post('/v1/tasks', { title: 'Strange' });
  await post('/v1/tenants/strange/conversations', {}, token);
  for (const each of [stranger.keys.admin, stranger.session, token!]) await harvest(each, ofStranger);
}

// Answers for everybody may have the name of a tenant: a portal has it on its sign-in page.
const secretsOf = ({ owner, known }: Fixture): string[] => [
  ...[owner.email, owner.keys.admin, owner.keys.read, owner.session, known.get('end_user_token')!],
  ...['Between us alone', 'Everyone of ours'],
];
// The steps of the walk call everything so. The document has the address in its examples.
const named = ['Walked', 'ann@example.com'];

const strangersTokens = ({ stranger, known }: Fixture) => [
  stranger.keys.admin,
  stranger.session,
  known.get('stranger_user_token')!,
  undefined,
];

// These fields depend on time, on who reads, or on work in the background.
const unstable =
  /"(?:request_id|eventCount|lastEventAt|as_of|lag_ms|caught_up|expires_at|token|lastUsedAt|last_used_at|url|next_cursor)":[^,}]*/g;

// Workers change these: deliveries are tried again, and counted.
const isOfWorkers = /\/(?:events|webhook-\w+|usage|system|insights|lake)\b/;

async function snapshot(): Promise<Map<string, string>> {
  const { owner, known, server } = fixture;
  const seen = new Map<string, string>();
  for (const operation of reads) {
    if (isOfWorkers.test(operation.path) || !namesIn(operation).every(name => ofOwner.has(name))) continue;
    const { path } = requestFor(operation, { path: ofOwner, body: new Map() });
    for (const token of [owner.keys.admin, owner.session, known.get('end_user_token')!]) {
      const { status, text } = await send(server.url, { method: 'GET', path, token });
      if (status !== 401 && status !== 403)
        seen.set(`${operation.id} ${path}`, `${status} ${text.replace(unstable, '')}`);
    }
  }
  return seen;
}

// Each path with the owner's ids; with theirs in one place and the stranger's in the others; with the stranger's, and the
// owner's ids in the body and the query.
function* attacksOn(operation: Documented) {
  const own = namesIn(operation);
  yield { path: ofOwner, body: ofOwner };
  for (const name of own.length > 1 ? own : [])
    if (ofOwner.has(name))
      yield { path: new Map([...ofStranger, [name, ofOwner.get(name)!]]), body: ofOwner };
  yield { path: ofStranger, body: ofOwner };
}

test('has ids of the owner for nearly every path', () => {
  const wanted = new Set(operations.flatMap(namesIn));
  const missing = [...wanted].filter(name => !ofOwner.has(name));
  expect(wanted.size).toBeGreaterThan(30);
  expect(missing.length, missing.join()).toBeLessThan(12);
});

test('a stranger sees nothing of another account, and changes nothing', async () => {
  const first = await snapshot();
  const second = await snapshot();
  const stable = [...first].filter(([path, text]) => second.get(path) === text);
  expect(stable.length).toBeGreaterThan(30);
  const secrets = secretsOf(fixture);
  let sent = 0;
  const answered = new Set<string>();
  for (const operation of operations)
    for (const given of attacksOn(operation)) {
      for (const token of strangersTokens(fixture)) {
        const request = { ...requestFor(operation, given), ...(token && { token }) };
        const { status, text } = await send(fixture.server.url, request);
        sent += 1;
        if (status !== 400) answered.add(operation.id);
        const about = `${operation.id} ${request.path} ${JSON.stringify(request.body)}: ${status} ${text.slice(0, 500)}`;
        const traces = operation.auth === 'public' ? secrets : [...secrets, ...named];
        for (const trace of traces) expect(text.includes(trace), about).toBe(false);
        expect(status, about).not.toBe(500);
      }
      await stayIn(fixture);
    }
  expect(sent).toBeGreaterThan(2_000);
  const unreached = operations.filter(({ id }) => !answered.has(id)).map(({ id }) => id);
  expect(unreached.length, `refused before their owner mattered: ${unreached.join()}`).toBeLessThan(20);
  await expect
    .poll(
      async () => {
        const after = await snapshot();
        return stable.flatMap(([path, text]) =>
          after.get(path) === text ? [] : [[path, text, after.get(path)]],
        );
      },
      { timeout: 30_000 },
    )
    .toEqual([]);
}, 300_000);

// Operations that end sessions are among those that they tried.
async function stayIn(current: Fixture): Promise<void> {
  const { server, stranger } = current;
  const { status } = await send(server.url, { method: 'GET', path: '/v1/me', token: stranger.session });
  if (status !== 200) await logInAgain(current, stranger);
}
