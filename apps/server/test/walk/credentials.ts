import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { type Clock, systemClock } from '@stak/kit';
import { endUserScopes, manageScope } from '@stak/tenants';
import { type Customer, type Fixture, isForPeople, type Operation, type Request, send } from './fixture.ts';
import type { Step } from './step.ts';

// Every kind of credential that must not work for a step of the owner's, and what each of them is answered.
export type Attempt = { who: string; token?: string; statuses: readonly number[]; isForeign?: true };

export type Credentials = {
  attempts(step: Step, operation: Operation): Promise<Attempt[]>;
};

const ranks = ['read', 'write', 'admin'] as const;
const allScopes = endUserScopes.join(' ');

// A clock that can be put back, for tokens that have expired by the time of the walk.
export function shiftedClock(): Clock & { shift(ms: number): void } {
  let shiftMs = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + shiftMs,
    shift(ms) {
      shiftMs = ms;
    },
  };
}

// The owner had these two hours ago: a session and a token of a user, both expired by now.
export async function collectExpired(fixture: Fixture): Promise<string[]> {
  const { session } = fixture.owner;
  await post(fixture, '/v1/tenants', { tenant_id: 'long-ago', name: 'Long ago', status: 'active' });
  const minted = await post(fixture, '/v1/tenants/long-ago/tokens', { sub: 'ann', ttl_seconds: 60 });
  return [session, (minted as { token: string }).token];
}

const post = async (fixture: Fixture, path: string, body: unknown, token = fixture.owner.keys.admin) =>
  (await send(fixture.server.url, { method: 'POST', path, token, body })).json as unknown;

export async function prepareCredentials(fixture: Fixture, expired: readonly string[]): Promise<Credentials> {
  const { owner, stranger } = fixture;
  const forged = forgeriesOf(owner.session);
  const never: Attempt[] = [
    { who: 'nobody', statuses: [401] },
    { who: 'a key that was deleted', token: await deletedKey(fixture), statuses: [401] },
    ...expired.map((token, i) => ({ who: `expired ${i}`, token, statuses: [401] })),
  ];
  const ownUsers = new Map<string, string>();
  const tried = new Set<string>();

  // Each operation meets some of the forgeries, and each forgery many operations.
  const nextForged = (): Attempt[] =>
    [0, 1, 2].map(() => {
      const token = forged.shift()!;
      forged.push(token);
      return { who: `forged ${token}`, token, statuses: [401] };
    });

  // Tokens of the owner's user Ann with one scope each, and of another user with all of them.
  const mintOwn = async (): Promise<void> => {
    if (ownUsers.size > 0 || !fixture.known.has('end_user_token')) return;
    const path = '/v1/tenants/walked/tokens';
    for (const [who, sub, scope] of [
      ...endUserScopes.map(one => [one, 'ann', one] as const),
      ['eve', 'eve', allScopes] as const,
    ])
      ownUsers.set(who, ((await post(fixture, path, { sub, scope })) as { token: string }).token);
    forged.push(...forgeriesOf(ownUsers.get('inbox:read')!), 'fh_live_nobody-has-this-key');
  };

  const weaker = (operation: Operation): Attempt[] => {
    const { auth, scope = 'read', endUserScope } = operation;
    const least = ranks.indexOf(scope as (typeof ranks)[number]);
    const keys = isForPeople(operation) ? ranks : ranks.slice(0, least);
    const isMember = (who: string) => who === 'eve' && endUserScope === manageScope; // of the tenant, and no admin
    const users = [...ownUsers].filter(([who]) =>
      isForUsers(auth)
        ? isMember(who) || (endUserScope !== 'any' && who !== endUserScope && who !== 'eve')
        : true,
    );
    return [
      ...keys.map(one => ({ who: `the owner's ${one} key`, token: owner.keys[one], statuses: [403] })),
      // 401 when their user, or the tenant, is gone.
      ...users.map(([who, token]) => ({ who: `Ann with ${who}`, token, statuses: [401, 403] })),
    ];
  };

  const foreign = (step: Step, operation: Operation): Attempt[] => {
    const { auth, scope = 'read' } = operation;
    const tokens: [who: string, token: string][] = [['session', stranger.session]];
    if (!isForPeople(operation))
      for (const one of ranks.slice(ranks.indexOf(scope as (typeof ranks)[number])))
        tokens.push([`${one} key`, stranger.keys[one]]);
    if (isForUsers(auth)) tokens.push(['admin of a tenant', fixture.known.get('stranger_user_token')!]);
    const attempts: Attempt[] = tokens.map(([who, token]) => ({
      who: `the stranger's ${who}`,
      token,
      statuses: [401, 403, 404],
      isForeign: true,
    }));
    const eve = ownUsers.get('eve');
    if (eve && auth === 'user' && namesAnn(operation) && step.as !== 'endUser' && step.stranger === undefined)
      attempts.push({ who: "Ann's colleague", token: eve, statuses: [401, 403, 404] });
    return attempts;
  };

  return {
    async attempts(step, operation) {
      if (operation.auth === 'public' || operation.auth === 'provider') return [];
      await mintOwn();
      // Who these are does not depend on the step.
      const isKnown = tried.has(operation.id);
      tried.add(operation.id);
      const refused = isKnown ? [] : [...never, ...nextForged(), ...weaker(operation)];
      return typeof step.stranger === 'object' ? refused : [...refused, ...foreign(step, operation)];
    },
  };
}

const isForUsers = (auth: string): boolean => auth === 'user' || auth === 'endUser';

const namesAnn = ({ path }: Operation): boolean =>
  /\{(?:uid|user_id|conversation_id|session_id)\}/.test(path);

async function deletedKey(fixture: Fixture): Promise<string> {
  const token = fixture.owner.session;
  const made = (await post(fixture, '/v1/api-keys', { name: 'gone', permissions: 'admin' }, token)) as {
    key: string;
    keyId: string;
  };
  await send(fixture.server.url, { method: 'DELETE', path: `/v1/api-keys/${made.keyId}`, token });
  return made.key;
}

// A token that was good, changed in the ways that have worked elsewhere.
function forgeriesOf(token: string): string[] {
  const [head, body, signature] = token.split('.') as [string, string, string];
  const header = read(head) as { kid: string };
  const claims = read(body);
  const unsigned = (change: object) => `${write({ ...header, ...change })}.${body}`;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signedByAnother = (text: string) =>
    `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  const hmac = (text: string) =>
    `${text}.${createHmac('sha256', header.kid).update(text).digest('base64url')}`;
  return [
    `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    `${head}.${write({ ...claims, exp: 9_999_999_999 })}.${signature}`,
    `${unsigned({ alg: 'none' })}.`,
    `${head}.${body}.`,
    signedByAnother(`${head}.${body}`),
    signedByAnother(unsigned({ jwk: publicKey.export({ format: 'jwk' }), kid: undefined })),
    hmac(unsigned({ alg: 'HS256' })),
  ];
}

const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
const write = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

// The same request for something that there is not, at the first place where the path names something.
export function missingTwin(operation: Operation, request: Request): Request | undefined {
  const [path = '', query] = request.path.split('?');
  const parts = path.split('/');
  const at = operation.path.split('/').findIndex(part => part.startsWith('{'));
  const name = parts[at];
  if (at < 0 || name === undefined || !ownIds.test(operation.path.split('/')[at]!)) return undefined;
  const last = name.at(-1) === 'x' ? 'y' : 'x';
  parts[at] = name.slice(0, -1) + last;
  return { ...request, path: query ? `${parts.join('/')}?${query}` : parts.join('/') };
}

const ownIds = /tenant_id|sourceId|connectionId|eventId|jobId|task_id|keyId|sessionId/;

// Reads the thing that a step changes as the owner sees it: it must not change before the owner does it.
export function witnessOf(fixture: Fixture, operation: Operation, request: Request): Request | undefined {
  if (operation.method === 'GET') return undefined;
  const parts = request.path.split('?')[0]!.split('/');
  const readable = fixture.operations
    .filter(one => one.method === 'GET' && one.auth !== 'public' && one.auth !== 'provider')
    .filter(one => !/stream|tail|events|changes|export/.test(one.path))
    .filter(one => `${operation.path}/`.startsWith(`${one.path}/`))
    .sort((one, other) => other.path.length - one.path.length)[0];
  if (!readable) return undefined;
  const path = parts.slice(0, readable.path.split('/').length).join('/');
  return { method: 'GET', path, token: ownToken(fixture.owner, readable) };
}

const ownToken = ({ session, keys }: Customer, operation: Operation): string =>
  isForPeople(operation) ? session : keys.admin;
