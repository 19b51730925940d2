import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignedIn, signIn, untilPrinted } from './signed-in.ts';

let me: SignedIn;
beforeAll(async () => {
  me = await signIn();
}, 60_000);
afterAll(() => me.close());

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listening = (server: Server) =>
  new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()));

test('events arrive locally byte for byte, and none is missed after a lost connection', async () => {
  const app = await openApp();
  const line = await openLine(Number(new URL(me.url).port));
  const made = JSON.parse(await me.run('hooks', 'sources', '--create', 'shop'));
  const address = `${me.url}/in/${made.sourceId}`;
  await fetch(address, { method: 'POST', body: 'before anybody listened' });
  const env = { STAK_URL: `http://127.0.0.1:${line.port}` };
  const listen = me.start(env, 'hooks', 'listen', '--source', 'shop', '--forward', `${app.url}/hook?a=1`);
  await untilPrinted(listen, 'Listening to shop');

  // Nothing has come yet: even then the client knows where to go on.
  line.cut();
  const body = new Uint8Array([0, 255, 10, 13, 128]);
  const headers = { 'X-Order': '7', 'Content-Type': 'application/octet-stream' };
  await fetch(`${address}?b=2`, { method: 'PUT', body, headers });
  line.mend();
  const first = await app.next();
  expect(first).toMatchObject({ method: 'PUT', url: '/hook?a=1&b=2', body: Buffer.from(body) });
  expect(first.headers).toMatchObject({ 'x-order': '7', 'content-type': 'application/octet-stream' });

  line.cut();
  for (const text of ['one', 'two']) await fetch(address, { method: 'POST', body: text });
  line.mend();
  const texts = [await app.next(), await app.next()].map(one => `${one.body}`);
  expect(texts.toSorted()).toEqual(['one', 'two']);
  await untilPrinted(listen, 'POST  200 in ');
  listen.child.kill('SIGINT');
  expect(await listen.code, listen.stderr).toBe(0);
  expect(listen.stdout.trim().split('\n'), 'each once').toHaveLength(3);
  app.close();
  line.close();
}, 120_000);

test('sources, connections, events and their replay', async () => {
  const { data } = await me.client.webhooks.createSource({ body: { name: 'orders', provider: 'github' } });
  const { sourceId } = data;
  await fetch(`${me.url}/in/${sourceId}`, { method: 'POST', body: 'hello' });
  const app = await openApp();
  const destination = ['--destination', `${app.url}/in`];
  const connection = await me.run(
    'hooks',
    'connections',
    '--source',
    'orders',
    '--create',
    'c',
    ...destination,
  );
  expect(JSON.parse(connection)).toMatchObject({ sourceId, signingSecret: expect.any(String) });

  const [sources, events, unknown, everything] = await Promise.all([
    me.run('hooks', 'sources'),
    me.run('hooks', 'events', '--source', sourceId, '--json'),
    me.fail('hooks', 'events', '--source', 'nowhere'),
    me.fail('hooks', 'replay', '--source', 'orders'),
  ]);
  expect(sources).toMatch(new RegExp(`${sourceId}  orders +github +active`));
  const [event] = JSON.parse(events);
  expect(event).toMatchObject({ method: 'POST', size: 5 });
  expect(unknown).toContain('see stak hooks sources');
  expect(everything).toContain('which events?');

  expect(await me.run('hooks', 'replay', '--source', 'orders', '--all')).toBe(
    'done: 1 events, 1 deliveries are due',
  );
  expect(`${(await app.next()).body}`).toBe('hello');
  app.close();
}, 120_000);

test('other rules for a connection: what differs, and only that is delivered again', async () => {
  const app = await openApp();
  const { data: source } = await me.client.webhooks.createSource({ body: { name: 'what-if' } });
  const { sourceId } = source;
  const paid = { field: 'body', path: '$.type', operator: 'equals', value: 'paid' } as const;
  const { data: made } = await me.client.webhooks.createConnection({
    sourceId,
    body: { name: 'shop', destinationUrl: `${app.url}/in`, filters: [paid] },
  });
  for (const type of ['paid', 'open'])
    await fetch(`${me.url}/in/${sourceId}`, { method: 'POST', body: JSON.stringify({ type }) });
  expect(`${(await app.next()).body}`).toBe('{"type":"paid"}');

  const rules = join(await mkdtemp(join(tmpdir(), 'stak-rules-')), 'rules.json');
  await writeFile(rules, JSON.stringify({ filters: [{ ...paid, operator: 'exists', value: undefined }] }));
  const whatif = ['hooks', 'whatif', '--source', 'what-if', '--rules', rules, '--since', '7d'];
  const ofConnection = [...whatif, '--connection', made.connectionId];
  const shown = await me.run(...ofConnection);
  expect(shown).toMatch(/^2 events +now +then\nsent +1 +2\nfiltered +1 +0\n/);
  expect(shown).toMatch(/evt_\S+ +\S+ +open +filtered +sent$/);
  expect(await me.run(...ofConnection, '--save', '--replay')).toContain(
    'done: 1 events, 1 deliveries are due',
  );
  expect(`${(await app.next()).body}`).toBe('{"type":"open"}');
  expect(await me.run(...ofConnection)).not.toContain('evt_');
  expect(await me.fail(...whatif, '--save')).toContain('--save and --replay need --connection');
  expect(await me.fail(...whatif.with(5, '/nowhere'))).toContain('--rules needs a file with');
  await rm(dirname(rules), { recursive: true });
  app.close();
}, 120_000);

type Got = { method: string; url: string; headers: IncomingMessage['headers']; body: Buffer };

// A developer runs this app: it takes requests, and `next` gives them in their order.
async function openApp() {
  const got: Got[] = [];
  const waiting: ((one: Got) => void)[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const one = { method: request.method!, url: request.url!, headers: request.headers, body };
    const take = waiting.shift();
    if (take) take(one);
    else got.push(one);
    response.end();
  });
  await listening(server);
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    next: (): Promise<Got> => {
      const first = got.shift();
      return first ? Promise.resolve(first) : new Promise(resolve => waiting.push(resolve));
    },
    close: () => void server.close(),
  };
}

// A line to the server that can be cut.
async function openLine(port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createTcpServer(socket => {
    if (isCut) return void socket.destroy();
    const other = connect(port, '127.0.0.1');
    for (const one of [socket, other]) {
      sockets.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          socket.destroy();
          other.destroy();
        });
    }
    socket.pipe(other).pipe(socket);
  });
  await listening(server);
  return {
    port: portOf(server),
    cut() {
      isCut = true;
      for (const one of sockets) one.destroy();
    },
    mend() {
      isCut = false;
    },
    close: () => void server.close(),
  };
}
