import { createClient } from '@stak/client';
import { type Clock, createLogger } from '@stak/kit';
import { readServerConfig } from '../../src/config/config.ts';
import { type RunningServer, startServer } from '../../src/process/server.ts';

// Two customers of one server. The owner has one of everything; the stranger would like to have it.
export type Customer = {
  email: string;
  password: string;
  session: string;
  keys: { read: string; write: string; admin: string };
};

export type Fixture = {
  server: RunningServer;
  operations: readonly Operation[];
  owner: Customer;
  stranger: Customer;
  known: Map<string, string>; // what earlier steps have made: ids, versions, tokens
};

export type Operation = {
  id: string;
  method: string;
  path: string;
  auth: string;
  scope?: string;
  role?: string;
  isOwn?: boolean;
  isAudited: boolean;
  endUserScope?: string;
  hasJsonBody: boolean;
};

// A key cannot call these.
export const isForPeople = ({ auth }: Operation): boolean => auth === 'session' || auth === 'person';

export type Answer = { status: number; headers: Headers; text: string; json: never };

export type Request = {
  method: string;
  path: string;
  token?: string;
  headers?: Record<string, string>;
  body?: unknown;
};

// The least that scrypt takes: nobody guesses here.
const cheapPasswords = { logN: 4, r: 8, p: 1 };

export async function openFixture(
  clock?: Clock,
  env: Record<string, string> = {},
  path?: string,
): Promise<Fixture> {
  const config = readServerConfig(
    { port: 0, ...(path === undefined ? { memory: true } : { path }), demo: true }, // as it is started for a demo, with all that only that has
    { STAK_REQUESTS_PER_MINUTE: '100000', ...env },
  );
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: cheapPasswords,
    ...(clock && { clock }),
  });
  const operations = server.routes.map(route => ({
    id: route.operationId ?? `${route.method} ${route.path}`,
    method: route.method.toUpperCase(),
    path: route.path,
    auth: route.auth,
    ...(route.scope && { scope: route.scope }),
    ...(route.role && { role: route.role }),
    ...(route.isOwn && { isOwn: true }),
    ...(route.endUserScope && { endUserScope: route.endUserScope }),
    isAudited: route.audit === true,
    hasJsonBody: 'application/json' in (route.request?.body?.content ?? {}),
  }));
  const owner = await signUp(server.url, 'owner');
  const stranger = await signUp(server.url, 'stranger');
  const { data: me } = await createClient({ baseUrl: server.url, token: owner.session }).accounts.getMe();
  server.services.explorer!.admitFromHere(me.userId);
  const known = new Map([
    ['server_url', server.url],
    ['read_key', owner.keys.read],
  ]);
  return { server, operations, owner, stranger, known };
}

async function signUp(url: string, name: string): Promise<Customer> {
  const email = `${name}@example.com`;
  const password = `correct horse battery ${name}`;
  const signedUp = await send(url, {
    method: 'POST',
    path: '/v1/auth/signup',
    body: { email, password, name, cookie: false },
  });
  const session = (signedUp.json as { access_token: string }).access_token;
  const makeKey = async (permissions: string): Promise<string> => {
    const made = await send(url, {
      method: 'POST',
      path: '/v1/api-keys',
      token: session,
      body: { name, permissions },
    });
    return (made.json as { key: string }).key;
  };
  return {
    email,
    password,
    session,
    keys: { read: await makeKey('read'), write: await makeKey('write'), admin: await makeKey('admin') },
  };
}

// Their session from now on: the one before has expired, or is about to be.
export async function logInAgain({ server }: Fixture, customer: Customer): Promise<void> {
  const { email, password } = customer;
  const body = { email, password, cookie: false };
  const answer = await send(server.url, { method: 'POST', path: '/v1/auth/login', body });
  customer.session = (answer.json as { access_token: string }).access_token;
}

export async function send(url: string, request: Request): Promise<Answer> {
  const { method, path, token, headers = {}, body } = request;
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !(body instanceof Uint8Array) && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): never {
  try {
    return JSON.parse(text) as never;
  } catch {
    return undefined as never;
  }
}
