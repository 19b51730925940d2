import type { AccountsDeps } from '../src/index.ts';
import { profile } from '../src/main-table.ts';
import { createPasswords } from '../src/people/credentials/passwords.ts';
import { cheapCost, openEmbedded, openOutside, outside, serve } from './open-accounts.ts';

export const origin = 'https://stak.example';

// These tests must hold on both: the engine in process, and whatever the AWS SDK reaches.
export const engines = [
  ['embedded', openEmbedded],
  [`over ${outside}`, openOutside],
] as const;

// All of accounts, over an engine in memory, with the users that a test wants.
export async function openService(change: Partial<AccountsDeps> = {}, open = openEmbedded) {
  const engine = await open();
  const allowedOrigins = ['https://console.example'];
  const accounts = serve(engine, { publicUrl: origin, allowedOrigins, ...change });
  const { users, sessions, store, clock } = accounts;
  const passwords = createPasswords({ cost: cheapCost });

  return {
    ...accounts,
    client: engine.client,
    close: engine.close,
    request: (path: string, { method = 'GET', ...init }: RequestInit = {}): Promise<Response> =>
      accounts.call(method, path, init),
    call: (token: string, method: string, path: string, send?: object): Promise<Response> =>
      accounts.call(method, path, { as: token, send }),
    async addUser(email: string, password?: string) {
      const passwordHash = password === undefined ? undefined : await passwords.hash(password);
      return users.create({ email, name: 'Somebody', passwordHash });
    },
    tokenOf: async (userId: string): Promise<string> =>
      (await sessions.start({ userId, signedInWith: 'password', origin: {} })).accessToken,
    markDeleting: (userId: string) =>
      store.update(profile, { userId }, { set: { deletingAt: new Date(clock.now()).toISOString() } }),
  };
}

export const problemOf = async (response: Response): Promise<[number, unknown]> => [
  response.status,
  ((await response.json()) as { code: unknown }).code,
];
