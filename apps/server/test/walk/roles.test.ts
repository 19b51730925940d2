import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Fixture, isForPeople, type Operation, openFixture, type Request, send } from './fixture.ts';
import { createSamples } from './samples.ts';
import { requestOf } from './step.ts';
import { steps } from './steps.ts';

// Members of an organisation, and every operation of the document: what each may call follows from the route table.

let folder: string;
let fixture: Fixture;
let accountId: string;
const sessions = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-roles-'));
  fixture = await openFixture(undefined, { STAK_SMTP_URL: pathToFileURL(folder).href });
  const owner = createClient({ baseUrl: fixture.server.url, token: fixture.owner.session });
  accountId = (await owner.accounts.readOrganisation()).data.accountId;
  for (const role of ['viewer', 'member', 'admin'] as const) await joinAs(role);
  await createSamples(fixture);
}, 90_000);
afterAll(async () => {
  await fixture?.server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function joinAs(role: 'viewer' | 'member' | 'admin'): Promise<void> {
  const baseUrl = fixture.server.url;
  const email = `${role}@example.com`;
  const owner = createClient({ baseUrl, token: fixture.owner.session });
  await owner.accounts.invite({ body: { email, role } });
  const body = { email, password: 'seven green umbrellas', name: role, cookie: false };
  const { data } = await createClient({ baseUrl }).accounts.signUp({ body });
  const person = createClient({ baseUrl, token: data.access_token });
  await person.accounts.acceptInvitation({ body: { token: await invitationTo(email) } });
  const there = await person.accounts.switchOrganisation({ body: { accountId, cookie: false } });
  sessions.set(role, there.data.access_token);
}

const invitationTo = (email: string): Promise<string> =>
  vi.waitFor(async () => {
    const files = (await readdir(folder)).filter(name => name.endsWith('.eml'));
    const mails = await Promise.all(files.map(name => readFile(join(folder, name), 'utf8')));
    const found = mails.find(text => text.includes(`To: ${email}`) && text.includes('Subject: Join'));
    return /#token=3D(\S+)/.exec(found!.replaceAll('=\r\n', ''))![1]!;
  }, 25_000);

// With ids of the owner's own things, so that an admitted caller finds something.
const plainRequest = ({ method, path }: Operation): Request => ({
  method: method === 'ANY' ? 'POST' : method,
  path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(fixture.known.get(name) ?? 'something'),
  ),
});
const ask = (operation: Operation, role: string) =>
  send(fixture.server.url, { ...plainRequest(operation), token: sessions.get(role)! });

// Asks the server what they may call.
const permissionsOf = async (role: string): Promise<string[]> => {
  const member = createClient({ baseUrl: fixture.server.url, token: sessions.get(role)! });
  return (await member.system.permissions()).data.operations;
};

const ranks = ['read', 'write', 'admin'];
const isScoped = ({ auth, scope }: Operation) => scope !== undefined && auth !== 'endUser';

type ProtocolError = { code: unknown; data?: { reason?: string }[] };

it.each([
  ['viewer', 'read'],
  ['member', 'write'],
  ['admin', 'admin'],
])('refuses a %s all operations above their role', async (role, scope) => {
  const above = fixture.operations.filter(
    one => isScoped(one) && !one.isOwn && (ranks.indexOf(one.scope!) > ranks.indexOf(scope) || one.role),
  );
  expect(above.length).toBeGreaterThan(role === 'admin' ? 2 : 20);
  const permitted = await permissionsOf(role);
  for (const operation of above) {
    expect(permitted, operation.id).not.toContain(operation.id);
    const answer = await ask(operation, role);
    expect(answer.status, `${operation.id} by ${role}: ${answer.text}`).toBe(403);
    // Some speak another protocol, whose errors have another shape.
    const { code, error } = answer.json as { code?: string; error?: ProtocolError };
    expect(code ?? error?.data?.[0]?.reason ?? error?.code, operation.id).toMatch(
      /^http\.(scope|role)_missing$/,
    );
  }
});

it('lets a viewer read, and reads change nothing', async () => {
  const read = fixture.operations.filter(one => isScoped(one) && one.scope === 'read');
  const permitted = await permissionsOf('viewer');
  for (const operation of read.filter(one => one.method === 'GET')) {
    expect(permitted).toContain(operation.id);
    const answer = await ask(operation, 'viewer');
    // An operator is a person, and none of these.
    expect(answer.status, `${operation.id}: ${answer.text}`).not.toBe(403);
  }
  // A POST asks what is too long for an address, or answers with a secret.
  expect(
    read
      .filter(one => one.method !== 'GET')
      .map(one => one.id)
      .sort(),
  ).toEqual(readsByPost);
});

const readsByPost = ['accounts.mintInboxToken', 'lake.export', 'lake.query'];

it('shows nobody another organisation’s data, whatever their role in their own', async () => {
  const baseUrl = fixture.server.url;
  const body = { email: 'admin@example.com', password: 'seven green umbrellas', cookie: false };
  const { data } = await createClient({ baseUrl }).accounts.logIn({ body });
  const person = createClient({ baseUrl, token: data.access_token });
  const { data: mine } = await person.accounts.listOrganisations();
  const own = mine.data.find(one => one.accountId !== accountId)!;
  const { data: there } = await person.accounts.switchOrganisation({
    body: { accountId: own.accountId, cookie: false },
  });
  const foreign = steps.filter(step => {
    const operation = fixture.operations.find(one => one.id === step.operation)!;
    return operation.path.includes('{') && step.stranger === undefined && !step.as && !isForPeople(operation);
  });
  expect(foreign.length).toBeGreaterThan(50);
  for (const step of foreign) {
    const request = { ...requestOf(fixture, step), token: there.access_token };
    if (/\bsomething\b/.test(request.path)) continue; // the owner has none of these
    const answer = await send(baseUrl, request);
    expect([403, 404], `${step.operation} ${request.path}: ${answer.status} ${answer.text}`).toContain(
      answer.status,
    );
  }
});

it('ends a member’s streams and calls within a second of their removal', async () => {
  const baseUrl = fixture.server.url;
  const token = sessions.get('member')!;
  const stream = await fetch(`${baseUrl}/v1/tasks/events`, { headers: { authorization: `Bearer ${token}` } });
  expect(stream.status).toBe(200);
  const owner = createClient({ baseUrl, token: fixture.owner.session });
  const { data } = await owner.accounts.listMembers();
  const { userId } = data.data.find(one => one.email === 'member@example.com')!;
  const began = Date.now();
  await owner.accounts.removeMember({ userId });
  expect(await stream.text()).toContain('"reason":"unauthenticated"');
  expect(Date.now() - began).toBeLessThan(15_000); // a busy machine's second; the token is good for minutes
  for (const operation of fixture.operations.filter(one => isScoped(one) || one.auth === 'person')) {
    const answer = await send(baseUrl, { ...plainRequest(operation), token });
    expect(answer.status, operation.id).toBe(401);
  }
});
