import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@stak/client';
import { catchUpMs } from '@stak/webhooks';

// What customers do all day, through the API of a running server. Each flow runs in several ways: all in one tenant or
// user, which shows its limit, and each in another one, which shows the limit of all together.
export type Flow = {
  name: string;
  rate: 'events' | 'publishes' | 'feeds' | 'marks' | 'turns' | 'tasks'; // the option that sets its rate
  ignores?: readonly string[]; // tables in which an earlier flow is still being counted
  prepare(count: number): Promise<void>;
  ways: readonly Way[]; // the last one is spread over everything
};
export type Way = { place: string; act(index: number): Promise<unknown> };

export type Visitor = { baseUrl: string; client: Client; signUp(): Promise<Client> };

export async function openFlows(visitor: Visitor): Promise<{ flows: Flow[]; close(): void }> {
  const destination = await openDestination();
  return {
    flows: [
      webhooks(visitor, destination.url),
      ...[publishes(visitor), feeds(visitor), reads(visitor), turns(visitor), tasks(visitor)].map(flow => ({
        ...flow,
        ignores: ['ferryhook-events', ...(flow.ignores ?? [])],
      })),
    ],
    close: () => destination.server.close().closeAllConnections(),
  };
}

async function openDestination(): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

const json = { headers: { 'Content-Type': 'application/json' } };

type Source = { client: Client; source_id: string };

function webhooks({ client, signUp }: Visitor, destinationUrl: string): Flow {
  const own: Source[] = [];
  const others: Source[] = [];
  const open = async (of: Client): Promise<Source> => {
    const { data } = await of.webhooks.createSource({ body: { name: 'simulated' } });
    const { sourceId } = data;
    await of.webhooks.createConnection({ sourceId, body: { name: 'everything', destinationUrl } });
    return { client: of, source_id: sourceId };
  };
  const body = JSON.stringify({ type: 'order.paid', note: 'x'.repeat(900) });
  const receive = ({ client, source_id }: Source) => client.webhooks.receive({ source_id, body }, json);
  return {
    name: 'event received and delivered',
    rate: 'events',
    async prepare(count) {
      for (let index = 0; index < count; index++) {
        own.push(await open(client));
        others.push(await open(await signUp()));
      }
      await sleep(Math.max(...catchUpMs) + 1000); // the catch-up of new connections is done
    },
    ways: [
      { place: 'one source', act: () => receive(own[0]!) },
      { place: 'one account', act: index => receive(own[index]!) },
      { place: 'everywhere', act: index => receive(others[index]!) },
    ],
  };
}

const tenantOf = (index: number): string => `simulated-${index}`;
const userOf = (index: number): string => `user-${index}`;
const inbox_key = 'news';

function publishes({ client }: Visitor): Flow {
  const publish = (tenant: number, user: number) =>
    client.inbox.publish({
      tenant_id: tenantOf(tenant),
      inbox_key,
      body: {
        uids: [userOf(user)],
        message: { title: 'Paid', body: 'x'.repeat(200) },
        taxonomy: { category: 'orders' },
      },
    });
  return {
    name: 'message published to one user',
    rate: 'publishes',
    async prepare(count) {
      for (let index = 0; index < count; index++) {
        const tenant_id = tenantOf(index);
        await client.tenants.create({ body: { tenant_id, name: tenant_id, status: 'active' } });
        await client.inbox.writeInbox({ tenant_id, inbox_key, body: { title: 'News' } });
        if (index > 0) await publish(index, index); // to a user who is not new
      }
    },
    ways: [{ place: 'one inbox, new users', act: index => publish(0, index) }, ...ways('one inbox', publish)],
  };
}

// For all users of one tenant, and for one user of each tenant.
const ways = (place: string, act: (tenant: number, index: number) => Promise<unknown>): Way[] => [
  { place, act: index => act(0, index) },
  { place: 'everywhere', act: index => act(index, index) },
];

type UserAct = (user: Client, tenant_id: string, uid: string) => Promise<unknown>;

// With a token of the user, who has messages from the flow before.
function ofUsers({ client, baseUrl }: Visitor, place: string, scope: string, act: UserAct) {
  const tokens = new Map<string, Client>();
  const open = async (tenant: number, user: number) => {
    const body = { sub: userOf(user), scope };
    const { data } = await client.tenants.mintToken({ tenant_id: tenantOf(tenant), body });
    tokens.set(`${tenant} ${user}`, createClient({ baseUrl, token: data.token }));
  };
  return {
    async prepare(count: number) {
      for (let index = 0; index < count; index++) {
        await open(0, index);
        await open(index, index);
      }
    },
    ways: ways(place, (tenant, user) =>
      act(tokens.get(`${tenant} ${user}`)!, tenantOf(tenant), userOf(user)),
    ),
  };
}

const feeds = (visitor: Visitor): Flow => ({
  name: 'feed read by a user',
  rate: 'feeds',
  ignores: ['stak-storage'],
  ...ofUsers(visitor, 'one inbox', 'inbox:read', ({ inbox }, tenant_id, uid) =>
    inbox.feed({ tenant_id, inbox_key, uid }),
  ),
});

const reads = (visitor: Visitor): Flow => ({
  name: 'messages marked as read by a user',
  rate: 'marks',
  ...ofUsers(visitor, 'one inbox', 'inbox:read inbox:write', ({ inbox }, tenant_id, uid) =>
    inbox.readMany({ tenant_id, inbox_key, uid, body: {} }),
  ),
});

const tasks = (visitor: Visitor): Flow => ({
  name: 'task created by a user',
  rate: 'tasks',
  ...ofUsers(visitor, 'one tenant', 'tasks:read tasks:write', ({ tasks }) =>
    tasks.create({ body: { title: 'Call Ann', category: 'sales', due_date: '2030-12-01' } }),
  ),
});

function turns({ client }: Visitor): Flow {
  const say = (tenant: number, index: number) =>
    client.agents.sendMessage({
      tenant_id: tenantOf(tenant),
      conversation_id: `conversation-${index}`,
      body: { content: 'Hello', user_id: userOf(0) },
    });
  return {
    name: 'message to an agent answered by a rule',
    rate: 'turns',
    async prepare(count) {
      for (let index = 0; index < count; index++)
        await client.tenants.createUser({
          tenant_id: tenantOf(index),
          body: { user_id: userOf(0), display_name: 'Ann' },
        });
      for (let index = 1; index < count; index++) await say(index, index); // in a conversation that is not new
    },
    ways: [
      { place: 'one tenant, new conversations', act: index => say(0, index) },
      ...ways('one tenant', say),
    ],
  };
}
