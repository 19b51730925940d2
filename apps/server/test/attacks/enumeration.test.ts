import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@stak/client';
import { createLogger } from '@stak/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readServerConfig } from '../../src/config/config.ts';
import { type RunningServer, startServer } from '../../src/process/server.ts';
import { type Answer, send } from '../walk/fixture.ts';

// Whether somebody has an account is nobody's business: neither an answer nor the time that it takes tells.

const people = 60;
const password = 'correct horse battery';
let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-enumeration-'));
  const variables = {
    STAK_SMTP_URL: pathToFileURL(folder).href,
    STAK_LAKE: 'off',
    STAK_REQUESTS_PER_MINUTE: '100000',
    STAK_TRUSTED_PROXY_HOPS: '1', // so that each request may have an address of its own
    STAK_REQUIRE_VERIFIED_EMAIL: 'false',
  };
  server = await startServer(readServerConfig({ port: 0, memory: true, demo: false }, variables), {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 10, r: 8, p: 1 },
  });
  const owner = await post('/v1/auth/signup', signUpOf('owner'));
  const { access_token } = owner.json as { access_token: string };
  const { tenants } = createClient({ baseUrl: server.localUrl, token: access_token });
  const tenant_id = 'portal';
  await tenants.create({ body: { tenant_id, name: 'Portal', status: 'active' } });
  for (let i = 0; i < people; i++) {
    await post('/v1/auth/signup', signUpOf(`person${i}`));
    const body = { user_id: `person${i}`, display_name: 'Person', email: `person${i}@example.com` };
    await tenants.createUser({ tenant_id, body });
  }
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const signUpOf = (name: string) => ({ email: `${name}@example.com`, password, name, cookie: false });

let sent = 0;
function post(path: string, body: unknown): Promise<Answer> {
  sent += 1;
  const headers = { 'x-forwarded-for': `10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}` };
  return send(server.localUrl, { method: 'POST', path, body, headers });
}

const doors: Readonly<Record<string, (email: string) => [path: string, body: unknown]>> = {
  'a sign-in': email => ['/v1/auth/login', { email, password: 'another horse battery', cookie: false }],
  'a password reset': email => ['/v1/auth/password-reset', { email }],
  'a sign-up by mail': email => ['/v1/auth/signup/request', { email, password, name: 'Someone' }],
  'a sign-in code of a portal': email => ['/v1/portal/portal/sign-in', { email }],
};

// Probability that a random answer of the first kind took longer than one of the second: a half if nothing differs. A
// slow machine moves both.
const chanceOfLonger = (some: readonly number[], others: readonly number[]): number => {
  const wins = some.flatMap(one => others.map(other => (one > other ? 1 : one === other ? 0.5 : 0)));
  return wins.reduce<number>((sum, one) => sum + one, 0) / wins.length;
};

const comparable = ({ status, text }: Answer) =>
  `${status} ${text.replace(/"(request_id|attempt|expires_at)":"[^"]*"/g, '')}`;

test.each(Object.entries(doors))(
  '%s does not tell',
  async (_, request) => {
    const took = { known: [] as number[], unknown: [] as number[] };
    const answers = new Set<string>();
    const ask = async (kind: keyof typeof took, email: string) => {
      const beganMs = performance.now();
      const answer = await post(...request(email));
      took[kind].push(performance.now() - beganMs);
      answers.add(comparable(answer));
    };
    await ask('unknown', 'first@example.com'); // loads what is loaded once
    took.unknown.pop();
    for (let i = 0; i < people; i++) {
      const turns = [
        () => ask('known', `person${i}@example.com`),
        () => ask('unknown', `nobody${i}@example.com`),
      ];
      if (i % 2 === 0) turns.reverse();
      for (const turn of turns) await turn();
    }
    expect([...answers]).toHaveLength(1);
    // With sixty of each, chance alone leaves this range once in twenty thousand times.
    const chance = chanceOfLonger(took.known, took.unknown);
    expect(chance).toBeGreaterThan(0.28);
    expect(chance).toBeLessThan(0.72);
  },
  60_000,
);
