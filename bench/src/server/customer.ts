import { type Client, createClient } from '@stak/client';

// A user of the server: an account with a tenant, and a few credentials of each kind.
export type Customer = {
  client: Client;
  tenantId: string;
  apiKeys: readonly string[];
  sessions: readonly string[];
  endUsers: readonly { userId: string; token: string }[];
};

export type Counts = { apiKeys: number; sessions: number; endUsers: number };

export async function createCustomer(baseUrl: string, counts: Counts, tenantId = 'bench'): Promise<Customer> {
  const email = `${tenantId}@example.com`;
  const credentials = { email, password: 'correct horse battery staple', cookie: false };
  const { accounts } = createClient({ baseUrl });
  const signUp = await accounts.signUp({ body: { ...credentials, name: 'Bench' } });
  const sessions = [signUp.data.access_token];
  while (sessions.length < counts.sessions)
    sessions.push((await accounts.logIn({ body: credentials })).data.access_token);

  const client = createClient({ baseUrl, token: sessions[0]! });
  const apiKeys: string[] = [];
  while (apiKeys.length < counts.apiKeys) {
    const body = { name: `key ${apiKeys.length}`, permissions: 'write' } as const;
    apiKeys.push((await client.accounts.createKey({ body })).data.key);
  }

  await client.tenants.create({ body: { tenant_id: tenantId, name: 'Bench', status: 'active' } });
  const endUsers: { userId: string; token: string }[] = [];
  while (endUsers.length < counts.endUsers) {
    const userId = `user-${endUsers.length}`;
    const user = { user_id: userId, display_name: userId, email: `${userId}@example.com` };
    await client.tenants.createUser({ tenant_id: tenantId, body: { ...user, role: 'member' } });
    const grant = {
      sub: userId,
      scope: 'inbox:read inbox:write tasks:read tasks:write agents:chat profile:read',
    };
    const minted = await client.tenants.mintToken({ tenant_id: tenantId, body: grant });
    endUsers.push({ userId, token: minted.data.token });
  }
  return { client, tenantId, apiKeys, sessions, endUsers };
}
