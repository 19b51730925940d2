import { randomBytes } from 'node:crypto';
import { type Client, createClient, StakError } from '@stak/client';
import { booksPath } from './books.ts';
import { people } from './shop.ts';

export const tenant_id = 'demo-shop';
export const inbox_key = 'news';
export const storyLabel = 'demo'; // on tasks of the story, which the next run clears away

// The things that the story is about, created if they do not exist yet.
export type Workspace = {
  client: Client;
  stripe: { sourceId: string; secret: string };
};

export async function openWorkspace(client: Client, url: string, nowMs: number): Promise<Workspace> {
  await openTenant(client);
  await client.inbox.writeInbox({
    tenant_id,
    inbox_key,
    body: { title: 'News', description: 'What the shop has to tell.', ttl: { default: '30d', offers: '7d' } },
  });
  await openOwnTasks(client, url, nowMs);
  const stripe = await openStripe(client);
  const destinationUrl = `${url}${booksPath}`;
  await findConnection(client, stripe.sourceId, paidToBooks(destinationUrl));
  // For users who want to send an event by hand and see it delivered.
  const demo = await findSource(client, { name: 'demo' });
  await findConnection(client, demo, { name: 'Everything to the books', destinationUrl });
  return { client, stripe };
}

async function openTenant({ tenants }: Client): Promise<void> {
  await tenants
    .create({ body: { tenant_id, name: 'Demo shop', status: 'active' } })
    .catch(ifCode('tenants.id_taken', () => undefined));
  for (const user of people)
    await tenants.createUser({ tenant_id, body: user }).catch(ifCode('tenants.user_exists', () => undefined));
  await tenants.updateSettings({ tenant_id, body: { enabled_skills: [...skills] } }, { ifMatch: '*' });
}

const skills = [
  'sprint_status',
  'inbox_summary',
  'webhook_health',
  'usage',
  'remember',
  'forget',
  'search_history',
  'create_task',
] as const;

// Ann's own tasks, which the agent tells her about. The shop's tasks are on the account's board.
async function openOwnTasks({ tenants }: Client, baseUrl: string, nowMs: number): Promise<void> {
  const { data } = await tenants.mintToken({
    tenant_id,
    body: { sub: 'ann', scope: 'tasks:read tasks:write' },
  });
  const { tasks } = createClient({ baseUrl, token: data.token });
  const { data: counts } = await tasks.counts();
  if (counts.total > 0) return;
  await tasks.create({ body: { title: 'Read the first orders', status: 'completed' } });
  await tasks.create({ body: { title: 'Answer Mia', priority: 'high', due_date: dayFromNow(0, nowMs) } });
  await tasks.create({ body: { title: 'Check the new prices', due_date: dayFromNow(3, nowMs) } });
}

// Signed, like the real one: unsigned events are stored and marked as rejected.
async function openStripe(client: Client): Promise<Workspace['stripe']> {
  const secret = `whsec_${randomBytes(24).toString('base64url')}`;
  const sourceId = await findSource(client, { name: 'Stripe', provider: 'stripe' });
  await client.webhooks.editSource({
    sourceId,
    body: { signingSecret: secret, signatures: 'store', status: 'active' },
  });
  return { sourceId, secret };
}

type NewSource = Parameters<Client['webhooks']['createSource']>[0]['body'];
export type NewConnection = Parameters<Client['webhooks']['createConnection']>[0]['body'];

async function findSource({ webhooks }: Client, body: NewSource): Promise<string> {
  const { data } = await webhooks.listSources();
  const existing = data.data.find(({ name }) => name === body.name);
  return existing?.sourceId ?? (await webhooks.createSource({ body })).data.sourceId;
}

// The connection; undefined if the server may not call that address, as one in production may not call itself.
export async function findConnection(
  { webhooks }: Client,
  sourceId: string,
  body: NewConnection,
): Promise<string | undefined> {
  const { data } = await webhooks.listConnections({ sourceId });
  const existing = data.data.find(({ name }) => name === body.name);
  if (existing) {
    const { connectionId } = existing;
    // Reactivated, so that the circuit breaker forgets an earlier destination.
    if (existing.status === 'active')
      await webhooks.editConnection({ connectionId, body: { status: 'paused' } });
    await webhooks.editConnection({ connectionId, body: { ...body, status: 'active' } });
    return connectionId;
  }
  const refused = ifCode('webhooks.destination_refused', () => undefined);
  return (await webhooks.createConnection({ sourceId, body }).catch(refused))?.data.connectionId;
}

const paidToBooks = (destinationUrl: string): NewConnection => ({
  name: 'Paid orders to the books',
  destinationUrl,
  filters: [{ field: 'body', path: '$.type', operator: 'equals', value: 'checkout.session.completed' }],
  transform: {
    type: 'field_map',
    fields: [
      { to: '$.order', from: '$.data.object.metadata.order' },
      { to: '$.amount', from: '$.data.object.amount_total' },
      {
        to: '$.text',
        template: 'Order {{$.data.object.metadata.order}} of {{$.data.object.customer_email}}',
      },
    ],
  },
});

export function dayFromNow(days: number, nowMs: number): string {
  return new Date(nowMs + days * 86_400_000).toISOString().slice(0, 10);
}

export const ifCode =
  <T>(code: string, otherwise: () => T) =>
  (error: unknown): T => {
    if (error instanceof StakError && error.code === code) return otherwise();
    throw error;
  };
