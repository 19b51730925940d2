import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@stak/client';
import { seededRandom } from '@stak/kit';
import { UsageError } from '../../config/errors.ts';
import { type Demo, readDemo, removeDemo, saveDemo } from '../../http/demo-file.ts';
import { createStage } from './stage.ts';
import { tellStory } from './story.ts';
import { ifCode, openWorkspace, tenant_id, type Workspace } from './workspace.ts';

const email = 'demo@example.com';
export const firstOrder = 1001;
const firstBeats = 70; // a second of work, and enough that no page is empty
const firstSeed = 264; // its first beats leave something in every column of the board

// A sample workspace, created through the API. Its password is generated for each store, so that no server has a
// well-known one.
export async function prepareDemo(url: string, folder: string): Promise<Demo & { accountId: string }> {
  const known = await readDemo(folder);
  const fresh = { email, password: randomBytes(9).toString('base64url'), isFilled: false };
  const demo = { startMs: Date.now(), ...(known ?? fresh) };
  if (known?.isFilled && known.accountId !== undefined) return { ...demo, accountId: known.accountId };
  // Stored first: after a crash, the next start signs in with it and continues.
  await saveDemo(folder, demo);
  const client = await signIn(url, demo).catch(
    ifCode('accounts.credentials_wrong', async () => {
      if (!known) await removeDemo(folder);
      throw new UsageError(
        `the store has an account ${email} already, and ${known ? 'its password is not the one in demo.json' : 'no demo.json with its password'}`,
      );
    }),
  );
  if (!demo.isFilled) await fill(client, url, demo.startMs);
  const { data: me } = await client.accounts.getMe();
  await client.accounts.logOut();
  const filled = { ...demo, isFilled: true, accountId: me.userId };
  await saveDemo(folder, filled);
  return filled;
}

async function signIn(baseUrl: string, { email, password }: Demo): Promise<Client> {
  const { accounts } = createClient({ baseUrl });
  const body = { email, password, cookie: false };
  const { data } = await accounts
    .signUp({ body: { ...body, name: 'Demo' } })
    .catch(ifCode('accounts.email_taken', () => accounts.logIn({ body })));
  return createClient({ baseUrl, token: data.access_token });
}

// Everything may exist already, from a start that was interrupted: then the same steps are repeated with the same
// names.
async function fill(client: Client, url: string, startMs: number): Promise<void> {
  const workspace = await openWorkspace(client, url, startMs);
  for (const [index, body] of todos.entries())
    await client.tasks.create({ body, 'idempotency-key': `demo-${index}` });
  const stage = createStage(workspace, { run: 'first', startMs });
  const story = tellStory(seededRandom(firstSeed), firstOrder);
  for (let beat = 0; beat < firstBeats; beat++) await stage.play(story.next().value);
  await askForTask(workspace);
}

// Bob lets the agent write down an errand: a chain of causes, from his question to the task.
async function askForTask({ client: { agents } }: Workspace): Promise<void> {
  const conversation = { tenant_id, conversation_id: 'first-errand' };
  const body = { content: 'create task: Call the carrier about order 1001', user_id: 'bob' };
  const asked = await agents.sendMessage({ ...conversation, body, 'idempotency-key': 'demo-errand' });
  const approvals = 'approvals' in asked.data ? (asked.data.approvals ?? []) : [];
  for (const { approval_id } of approvals)
    await agents.decideApproval({ ...conversation, approval_id, body: { approved: true } });
}

const todos = [
  { title: 'Read the guides', priority: 'high' },
  { title: 'Send a webhook to the source "demo"', category: 'webhooks' },
  { title: 'Send Ann a message', category: 'inbox' },
] as const;
