import { createClient } from '@stak/client';
import type { Demo } from '../demo.ts';

// Whose the demo is, proven by its password: the address alone could be somebody else's by now.
export async function readAccountId(baseUrl: string, { email, password }: Demo): Promise<string> {
  const { data } = await createClient({ baseUrl }).accounts.logIn({
    body: { email, password, cookie: false },
  });
  const { accounts } = createClient({ baseUrl, token: data.access_token });
  const { data: me } = await accounts.getMe();
  await accounts.logOut();
  return me.userId;
}
