import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient } from '@stak/client';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { readServerConfig } from '../../src/config/config.ts';
import { startServer } from '../../src/process/server.ts';

// A whole server with accounts that receive webhooks, remind people and let agents act, on the engine in memory or over
// the AWS client. In the second case it can be started again on the same store.

export type StoreKind = 'memory' | 'aws';
export type Fixture = Awaited<ReturnType<typeof openFixture>>;
export type Customer = Awaited<ReturnType<Fixture['signUp']>>;

const agentSkills = ['create_task', 'send_inbox_message', 'replay_delivery'];
const quiet = { log: createLogger({ level: 'silent' }), passwordCost: { logN: 4, r: 8, p: 1 } };

export async function openFixture(kind: StoreKind) {
  const destination = createServer((request, response) => {
    response.statusCode = request.url === '/fail' ? 500 : 200;
    response.end();
  });
  await new Promise<void>(resolve => destination.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(destination.address() as AddressInfo).port}`;
  const store = kind === 'aws' ? await openStore() : undefined;
  const variables = { STAK_OUTBOUND_ALLOW: '127.0.0.0/8', ...store?.variables };
  const start = () =>
    startServer(
      readServerConfig(store ? { port: 0 } : { port: 0, memory: true, demo: false }, variables),
      quiet,
    );
  let server = await start();
  const as = (token?: string): Client => createClient({ baseUrl: server.localUrl, token });

  return {
    as,
    restart: async () => {
      await server.stop();
      server = await start();
    },
    store,
    async close() {
      await server.stop();
      await store?.close();
      destination.closeAllConnections();
      await new Promise(resolve => destination.close(resolve));
    },
    async ingest(sourceId: string, body: object): Promise<string> {
      const response = await fetch(`${server.localUrl}/in/${sourceId}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return ((await response.json()) as { eventId: string }).eventId;
    },
    /** An account with a tenant, a source whose deliveries fail, and one for events of Stak. */
    async signUp(name: string) {
      const tenant_id = `shop-${name}`;
      const person = {
        email: `${name}@example.com`,
        password: 'a long enough password',
        name,
        cookie: false,
      };
      const { data: session } = await as().accounts.signUp({ body: person });
      const made = { name: 'test', permissions: 'admin' } as const;
      const { data: key } = await as(session.access_token).accounts.createKey({ body: made });
      const token = key.key;
      const host = () => as(token);
      await host().tenants.create({ body: { tenant_id, name, status: 'active' } });
      await host().tenants.createUser({ tenant_id, body: { user_id: 'bob', display_name: 'Bob' } });
      const body = { enabled_skills: agentSkills };
      await host().tenants.updateSettings({ tenant_id, body }, { ifMatch: '*' });
      const { data: shop } = await host().webhooks.createSource({ body: { name: 'Shop' } });
      const { data: stak } = await host().webhooks.createSource({ body: { name: 'Stak', provider: 'stak' } });
      const connect = (sourceId: string, path: string) =>
        host().webhooks.createConnection({
          sourceId,
          body: { name: path, destinationUrl: `${address}${path}`, retryConfig: { maxAttempts: 1 } },
        });
      await connect(shop.sourceId, '/fail');
      await connect(stak.sourceId, '/ok');
      const mint = async (sub: string, scope: string) =>
        as((await host().tenants.mintToken({ tenant_id, body: { sub, scope } })).data.token);
      return { name, tenant_id, host, shop: shop.sourceId, stak: stak.sourceId, mint };
    },
  };
}

async function openStore() {
  process.env.AWS_ACCESS_KEY_ID ??= 'any';
  process.env.AWS_SECRET_ACCESS_KEY ??= 'any';
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const { url } = await dynamo.listen();
  return {
    variables: {
      STAK_STORE: 'aws',
      STAK_AWS_REGION: 'us-east-1',
      STAK_AWS_ENDPOINT: url,
      STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
    // The keys of all items of a table.
    async keys(TableName: string) {
      const { Items = [] } = await engine.client.scan({ TableName });
      return Items.map(item => [String(item.PK ?? item.pk), String(item.SK ?? item.sk)] as const);
    },
    close: async () => {
      await dynamo.close();
      await engine.close();
    },
  };
}

export const why = async (client: Client, id: string) => (await client.system.why({ id })).data;
export const kindsOf = (nodes: readonly { kind: string }[]): string[] => nodes.map(({ kind }) => kind);
