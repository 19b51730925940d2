import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { createEngine, createHttpServer, type Engine as EmbeddedEngine } from '@stak/engine';
import { createApi, createMemoryIdempotency, type RateLimits, unguarded } from '@stak/http';
import {
  type Clock,
  createIds,
  createLogger,
  createSealer,
  type ManualClock,
  manualClock,
  systemClock,
} from '@stak/kit';
import type { Mail, Mailer } from '@stak/mail';
import {
  type AnyTable,
  createStore,
  createTables,
  type DynamoClient,
  type Store,
  tableErrors,
} from '@stak/table';
import { awsClient } from '@stak/table/aws';
import { type AccountsDeps, createAccounts, keyProblems } from '../src/index.ts';

// Cheap enough for hundreds of sign-ins; everything else about the hash is as it is in production.
export const cheapCost = { logN: 4, r: 8, p: 1 };
export const publicUrl = 'http://stak.example:8080';
export const password = 'correct horse battery';

// `near` is the same store without a connection, for the many items that a test only needs to find there.
export type Engine = {
  client: DynamoClient;
  near: DynamoClient;
  clock: ManualClock;
  close(): Promise<void>;
};

// The same for every engine.
let tables: readonly AnyTable[] | undefined;

async function openTables() {
  const clock = manualClock();
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0, clock });
  tables ??= serve({ client: engine.client, clock }).tables;
  await createTables(engine, tables);
  return { engine, clock };
}

export async function openEmbedded(): Promise<Engine> {
  const { engine, clock } = await openTables();
  return { client: engine.client, near: engine.client, clock, close: () => engine.close() };
}

// Connections are used by one test after the other, because what takes a client longest it does once. They end with the
// process.
type Connection = { client: DynamoClient; engine?: EmbeddedEngine | undefined };
const connections: Connection[] = [];

async function connect(): Promise<Connection> {
  const execute = async (operation: string, input: unknown) => {
    if (!connection.engine) throw new Error('the test is over');
    return connection.engine.execute(operation, input);
  };
  const { url: endpoint } = await createHttpServer({ execute }, { port: 0 }).listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const connection: Connection = { client: awsClient({ region: 'us-east-1', endpoint, credentials }) };
  return connection;
}

export async function openOverHttp(): Promise<Engine> {
  const { engine, clock } = await openTables();
  const connection = connections.find(one => !one.engine) ?? (await connect());
  if (!connections.includes(connection)) connections.push(connection);
  connection.engine = engine;
  return {
    client: connection.client,
    near: engine.client,
    clock,
    async close() {
      connection.engine = undefined;
      await engine.close();
    },
  };
}

/**
 * A store outside this process for what does many requests: nothing is shared with it, every request and answer takes
 * iterations of the event loop, operations are not prepared, and answers may be lost. Without the SDK and the socket,
 * which cost three times as much as everything else. That the SDK's client is the same store is the contract of
 * `@stak/table`.
 */
async function openElsewhere(): Promise<Engine> {
  const { engine, clock } = await openTables();
  const sent =
    <Input, Output>(operation: (input: Input) => Promise<Output>) =>
    async (input: Input): Promise<Output> => {
      const request = serialize(input);
      await setImmediate();
      const answer = serialize(await operation(deserialize(request) as Input));
      await setImmediate();
      return deserialize(answer) as Output;
    };
  const operations = Object.entries(engine.client).map(([name, operation]) => [
    name,
    sent(operation as never),
  ]);
  const client = { ...Object.fromEntries(operations), mayLoseAnswers: true } as DynamoClient;
  return { client, near: engine.client, clock, close: () => engine.close() };
}

/** The store outside this process, by name: over the AWS SDK with the long runs. */
export const [outside, openOutside] = process.env.STAK_LONG_TESTS
  ? (['the AWS SDK', openOverHttp] as const)
  : (['a store elsewhere', openElsewhere] as const);

// Notes what is asked of the store, in order.
export function watchClient(client: DynamoClient): { client: DynamoClient; operations: string[] } {
  const operations: string[] = [];
  const noted = <T>(operation: string, call: T): T =>
    typeof call === 'function'
      ? (((...input: never[]) => {
          operations.push(operation);
          return call(...input);
        }) as T)
      : call;
  const entries = Object.entries(client).map(([operation, call]) => [operation, noted(operation, call)]);
  return { client: Object.fromEntries(entries) as DynamoClient, operations };
}

// Makes the first write whose input contains the text, and loses its answer.
export function loseAnswer(client: DynamoClient, text: string): DynamoClient {
  let isLost = false;
  const losing =
    <I, O>(write: (input: I) => Promise<O>) =>
    async (input: I): Promise<O> => {
      const output = await write(input);
      if (isLost || !JSON.stringify(input).includes(text)) return output;
      isLost = true;
      throw new Error('the connection broke');
    };
  return { ...client, put: losing(client.put), transactWrite: losing(client.transactWrite) };
}

// Something else happens right before the first write whose input contains the text.
export function overtake(client: DynamoClient, text: string, act: () => Promise<unknown>): DynamoClient {
  let isOver = false;
  const overtaken =
    <I, O>(write: (input: I) => Promise<O>) =>
    async (input: I): Promise<O> => {
      if (!isOver && JSON.stringify(input).includes(text)) {
        isOver = true;
        await act();
      }
      return write(input);
    };
  const { update, transactWrite } = client;
  return { ...client, update: overtaken(update), transactWrite: overtaken(transactWrite) };
}

// Mails that a mailer was given, by whichever server.
export type Mailbox = { mailer: Mailer; sent: Mail[] };
export function openMailbox(): Mailbox {
  const sent: Mail[] = [];
  const mailer: Mailer = {
    async send(mail) {
      sent.push(mail);
      return { status: 'sent' };
    },
    close: async () => {},
  };
  return { mailer, sent };
}

// The token in the link of a mail.
export const tokenIn = (mail: Mail | undefined): string =>
  /#token=(\S+)/.exec(mail?.text ?? '')?.[1] ?? 'none';

export type Call = RequestInit & { as?: string; send?: unknown; address?: string };
export type Tokens = { access_token: string; refresh_token: string; session_id: string; expires_in: number };

// One process that serves accounts. Several may share an engine, as several servers share a table.
export function serve(
  { client, clock }: Pick<Engine, 'client' | 'clock'>,
  change: Partial<AccountsDeps> = {},
  rateLimits?: RateLimits,
) {
  const lines: string[] = [];
  const log = createLogger({ clock, level: 'warn', destination: { write: line => void lines.push(line) } });
  // The store waits before it tries again, and nobody moves the hands of a manual clock meanwhile. Shorter than it would
  // elsewhere: there are two servers here, not hundreds.
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms / 10, signal);
  const store: Store = createStore({ client, clock: { now: clock.now, sleep } });
  const mailbox = openMailbox();
  const accounts = createAccounts({
    store,
    mail: { mailer: mailbox.mailer, brand: { name: 'Stak', color: '#0f766e', url: publicUrl } },
    clock,
    log,
    ids: createIds({ clock }),
    sealer: createSealer({ keys: [{ id: 'test', secret: 'a secret for tests, long enough to be one' }] }),
    publicUrl,
    passwordCost: cheapCost,
    ...change,
  });
  const { app, routes } = createApi({
    info: { title: 'Accounts', version: '1' },
    endpoints: accounts.api,
    guards: { ...unguarded, problemsOf: keyProblems },
    errors: [accounts.errors, tableErrors],
    authenticate: accounts.authenticate,
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    ...(rateLimits && { rateLimits }),
  });

  const call = async (
    method: string,
    path: string,
    { as, send, address = '203.0.113.7', ...init }: Call = {},
  ) => {
    const headers = new Headers(init.headers);
    if (as) headers.set('Authorization', `Bearer ${as}`);
    if (send !== undefined) headers.set('Content-Type', 'application/json');
    const body = send === undefined ? init.body : JSON.stringify(send);
    return app.request(path, { ...init, method, headers, body }, { remoteAddress: address });
  };
  const signUp = async (email: string, more: object = {}): Promise<Tokens> => {
    const send = { email, password, name: 'Ann', cookie: false, ...more };
    const answer = await call('POST', '/v1/auth/signup', { send, address: `198.51.100.${email.length}` });
    if (answer.status !== 201) throw new Error(`sign-up answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Tokens;
  };
  const logIn = (email: string, tried = password, more: Call = {}) =>
    call('POST', '/v1/auth/login', { send: { email, password: tried, cookie: false }, ...more });
  const refresh = (refresh_token: string) => call('POST', '/v1/auth/refresh', { send: { refresh_token } });
  const codeOf = async (answer: Response): Promise<string> =>
    ((await answer.json()) as { code: string }).code;
  // Sends what is due, as the worker does, and gives the mails to an address since the last look.
  const mailsTo = async (email: string): Promise<Mail[]> => {
    await accounts.sendMails(new AbortController().signal);
    const found = mailbox.sent.filter(({ to }) => to === email);
    mailbox.sent.splice(0, mailbox.sent.length, ...mailbox.sent.filter(({ to }) => to !== email));
    return found;
  };
  return { ...accounts, store, clock, log, routes, lines, call, signUp, logIn, refresh, codeOf, mailsTo };
}

export type Serving = ReturnType<typeof serve>;
