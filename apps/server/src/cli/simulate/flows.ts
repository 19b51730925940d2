import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@stak/client';
import { catchUpMs } from '@stak/webhooks';
import { localModel } from './local-model.ts';

// A flow is something that customers do all day, through the API of a running server. Each runs in several ways: all in
// one busy tenant or account, which shows its limit, and once in each of many accounts, which shows what all of them
// share.
export type Flow = {
  name: string;
  rate: 'events' | 'publishes' | 'feeds' | 'marks' | 'turns' | 'tasks' | 'modelTurns'; // the option that sets its rate
  ignores?: readonly string[]; // tables in which an earlier flow is still being counted
  prepare(size: Size): Promise<void>;
  ways: readonly Way[]; // the last one uses another account each time, the others run in one
};
export type Way = { scope: string; act(index: number): Promise<unknown> };
export type Size = {
  operations: number; // in one account
  accounts: number; // besides that one, with one operation each
};

export type Session = { baseUrl: string; account(index: number): Promise<Client> };

const busy = 0; // the busy account
const busySources = 8; // of the busy account
const atOnce = 16; // as under load, where counters of several operations are written together

export async function repeat(times: number, act: (index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < times; from += atOnce) {
    const length = Math.min(atOnce, times - from);
    await Promise.all(Array.from({ length }, (_, index) => act(from + index)));
  }
}

export async function openFlows(session: Session): Promise<{ flows: Flow[]; close(): void }> {
  const destination = await openDestination();
  return {
    flows: [
      webhooks(session, destination.url),
      ...[
        publishes(session),
        feeds(session),
        reads(session),
        turns(session),
        tasks(session),
        modelTurns(session),
      ].map(flow => ({
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

function webhooks({ account }: Session, destinationUrl: string): Flow {
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
    async prepare({ accounts }) {
      for (let index = 0; index < busySources; index++) own.push(await open(await account(busy)));
      await repeat(accounts, async index => {
        others[index] = await open(await account(index + 1));
      });
      await sleep(Math.max(...catchUpMs) + 1000); // the catch-up of new connections is done
    },
    ways: [
      { scope: 'one source', act: () => receive(own[0]!) },
      { scope: 'one account', act: index => receive(own[index % own.length]!) },
      { scope: 'everywhere', act: index => receive(others[index]!) },
    ],
  };
}

// Each account has one tenant.
const tenantOf = (account: number): string => `simulated-${account}`;
const userOf = (index: number): string => `user-${index}`;
const inbox_key = 'news';

type TenantAct = (account: number, user: number) => Promise<unknown>;

// For each user of the busy account's tenant, and for one user of each other account's.
const ways = (scope: string, act: TenantAct): Way[] => [
  { scope, act: index => act(busy, index) },
  { scope: 'everywhere', act: index => act(index + 1, 0) },
];

function publishes({ account }: Session): Flow {
  const publish = async (of: number, user: number) => {
    const { inbox } = await account(of);
    return inbox.publish({
      tenant_id: tenantOf(of),
      inbox_key,
      body: {
        uids: [userOf(user)],
        message: { title: 'Paid', body: 'x'.repeat(200) },
        taxonomy: { category: 'orders' },
      },
    });
  };
  return {
    name: 'message published to one user',
    rate: 'publishes',
    async prepare({ accounts }) {
      await repeat(accounts + 1, async of => {
        const { tenants, inbox } = await account(of);
        const tenant_id = tenantOf(of);
        await tenants.create({ body: { tenant_id, name: tenant_id, status: 'active' } });
        await inbox.writeInbox({ tenant_id, inbox_key, body: { title: 'News' } });
        if (of !== busy) await publish(of, 0); // to a user who is not new
      });
    },
    ways: [
      { scope: 'one inbox, new users', act: index => publish(busy, index) },
      ...ways('one inbox', publish),
    ],
  };
}

type UserAct = (user: Client, tenant_id: string, uid: string) => Promise<unknown>;

// With a token of the user, who has messages from the flow before.
function asUsers({ account, baseUrl }: Session, scope: string, act: UserAct) {
  const clients = new Map<string, Client>();
  const open = async (of: number, user: number) => {
    const { tenants } = await account(of);
    const body = { sub: userOf(user), scope };
    const { data } = await tenants.mintToken({ tenant_id: tenantOf(of), body });
    clients.set(`${of} ${user}`, createClient({ baseUrl, token: data.token }));
  };
  return {
    async prepare({ operations, accounts }: Size) {
      await repeat(operations, user => open(busy, user));
      await repeat(accounts, index => open(index + 1, 0));
    },
    act: (of: number, user: number) => act(clients.get(`${of} ${user}`)!, tenantOf(of), userOf(user)),
  };
}

function feeds(session: Session): Flow {
  const { prepare, act } = asUsers(session, 'inbox:read', ({ inbox }, tenant_id, uid) =>
    inbox.feed({ tenant_id, inbox_key, uid }),
  );
  return {
    name: 'feed read by a user',
    rate: 'feeds',
    ignores: ['stak-storage'],
    prepare,
    ways: ways('one inbox', act),
  };
}

function reads(session: Session): Flow {
  const { prepare, act } = asUsers(session, 'inbox:read inbox:write', ({ inbox }, tenant_id, uid) =>
    inbox.readMany({ tenant_id, inbox_key, uid, body: {} }),
  );
  return { name: 'messages marked as read by a user', rate: 'marks', prepare, ways: ways('one inbox', act) };
}

function tasks(session: Session): Flow {
  const { prepare, act } = asUsers(session, 'tasks:read tasks:write', ({ tasks }) =>
    tasks.create({ body: { title: 'Call Ann', category: 'sales', due_date: '2030-12-01' } }),
  );
  return {
    name: 'task created by a user',
    rate: 'tasks',
    async prepare(size) {
      await prepare(size);
      await repeat(size.accounts, index => act(index + 1, 0)); // a user who is not new
    },
    ways: [{ scope: 'one tenant, new users', act: index => act(busy, index) }, ...ways('one tenant', act)],
  };
}

const messages_per_day = 1_000_000; // of a busy tenant; the default is 1,000

const sayIn =
  ({ account }: Session, conversation: string, content: string) =>
  async (of: number, user: number) => {
    const { agents } = await account(of);
    return agents.sendMessage({
      tenant_id: tenantOf(of),
      conversation_id: `${conversation}-${user}`,
      body: { content, user_id: userOf(user) },
    });
  };

// Takes the tenants and users of the flow before, which have a model from now on.
function modelTurns(session: Session): Flow {
  const { account } = session;
  const say = sayIn(session, 'order', 'When does my order arrive?');
  return {
    name: 'message to an agent answered by a model',
    rate: 'modelTurns',
    async prepare({ accounts }) {
      await repeat(accounts + 1, async of => {
        const { tenants } = await account(of);
        await tenants.updateSettings({ tenant_id: tenantOf(of), body: localModel }, { ifMatch: '*' });
        if (of !== busy) await say(of, 0); // in a conversation that is not new
      });
    },
    ways: [
      { scope: 'one tenant, new conversations', act: index => say(busy, index) },
      ...ways('one tenant', say),
    ],
  };
}

function turns(session: Session): Flow {
  const { account } = session;
  const say = sayIn(session, 'conversation', 'Hello');
  const createUser = async (of: number, user: number) => {
    const { tenants } = await account(of);
    const body = { user_id: userOf(user), display_name: 'Ann' };
    await tenants.createUser({ tenant_id: tenantOf(of), body });
  };
  return {
    name: 'message to an agent answered by a rule',
    rate: 'turns',
    async prepare({ operations, accounts }) {
      const { tenants } = await account(busy);
      const settings = { tenant_id: tenantOf(busy), body: { messages_per_day } };
      await tenants.updateSettings(settings, { ifMatch: '*' });
      await repeat(operations, user => createUser(busy, user));
      await repeat(accounts, async index => {
        await createUser(index + 1, 0);
        await say(index + 1, 0); // in a conversation that is not new
      });
    },
    ways: [
      { scope: 'one tenant, new conversations', act: index => say(busy, index) },
      ...ways('one tenant', say),
    ],
  };
}
