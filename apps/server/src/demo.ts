import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient, StakError } from '@stak/client';

export type Demo = { email: string; password: string };
type Saved = Demo & { isFilled: boolean };

const email = 'demo@example.com';
const tenant_id = 'demo-shop';

// A workspace to look at, made through the API like any other. Its password is made up for each store, so that no
// server is left with one that everybody knows.
export async function prepareDemo(url: string, folder: string): Promise<Demo> {
  const file = join(folder, 'demo.json');
  const known = await readSaved(file);
  const demo = known ?? { email, password: randomBytes(9).toString('base64url'), isFilled: false };
  if (demo.isFilled) return demo;
  // Kept first: if we are killed in between, the next start signs in with it and goes on.
  await save(file, demo);
  await fill(await signIn(url, demo));
  await save(file, { ...demo, isFilled: true });
  return demo;
}

async function signIn(baseUrl: string, { email, password }: Demo): Promise<Client> {
  const { accounts } = createClient({ baseUrl });
  const body = { email, password, cookie: false };
  const { data } = await accounts
    .signUp({ body: { ...body, name: 'Demo' } })
    .catch(ifCode('accounts.email_taken', () => accounts.logIn({ body })));
  return createClient({ baseUrl, token: data.access_token });
}

// All of it may be there already, from a start that did not get to its end.
async function fill(client: Client): Promise<void> {
  const { tenants, inbox, tasks, webhooks } = client;
  await tenants
    .create({ body: { tenant_id, name: 'Demo shop', status: 'active' } })
    .catch(ifCode('tenants.id_taken', () => undefined));
  for (const user of users)
    await tenants.createUser({ tenant_id, body: user }).catch(ifCode('tenants.user_exists', () => undefined));

  const place = { tenant_id, inbox_key: 'news' };
  await inbox.writeInbox({ ...place, body: { title: 'News', description: 'What the shop has to tell.' } });
  await inbox.broadcast({ ...place, body: letter('welcome', 'Welcome', 'Everybody in the shop sees this.') });
  for (const one of letters) await inbox.publish({ ...place, body: { ...one, uids: ['ann'] } });

  for (const [index, body] of todos.entries())
    await tasks.create({ body, 'idempotency-key': `demo-${index}` });

  const { data: sources } = await webhooks.listSources();
  if (!sources.data.some(({ name }) => name === 'demo'))
    await webhooks.createSource({ body: { name: 'demo' } });
}

const users = [
  { user_id: 'ann', display_name: 'Ann', email: 'ann@shop.example', role: 'admin' },
  { user_id: 'bob', display_name: 'Bob', email: 'bob@shop.example', role: 'member' },
] as const;

// The shop's own id makes it the same message, however often it is sent.
const letter = (host_system_id: string, title: string, body: string) => ({
  message: { title, body },
  host_system_id,
});
const letters = [
  letter('order-1001', 'Order 1001 is paid', 'Two chairs and a lamp.'),
  letter('order-1001-sent', 'Order 1001 is on its way', 'It arrives on Friday.'),
];

const todos = [
  { title: 'Read the guides', priority: 'high' },
  { title: 'Send a webhook to the source "demo"', category: 'webhooks' },
  { title: 'Send Ann a message', category: 'inbox' },
] as const;

const ifCode =
  <T>(code: string, otherwise: () => T) =>
  (error: unknown): T => {
    if (error instanceof StakError && error.code === code) return otherwise();
    throw error;
  };

async function readSaved(file: string): Promise<Saved | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Saved;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function save(file: string, saved: Saved): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
