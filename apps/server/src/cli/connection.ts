import { type Client, createClient, StakError } from '@stak/client';
import { type ClientConfig, loadEnvFile, readClientConfig, readDataFolder } from '../config/config.ts';
import { UsageError } from '../config/errors.ts';
import { findServer } from '../process/server-file.ts';
import { type CredentialStore, createCredentialStore } from './credentials.ts';

export type ConnectFlags = { url?: unknown };
export type Connection = { client: Client; url: string };

export const localUrl = 'http://127.0.0.1:8787';
// Refreshed a little early: a token that expires in flight is refused.
const earlyMs = 30_000;

// The server, and the token for it: STAK_TOKEN, or that of the signed-in person.
export async function authorize(flags: ConnectFlags) {
  const config = configOf(flags);
  const { token, home } = config;
  const saved = createCredentialStore(home);
  const url = chooseUrl(config) ?? (await saved.currentUrl()) ?? localUrl;
  if (token) return { url, token: async () => token, isFixed: true };
  if (!(await saved.read(url)))
    throw new UsageError(`you are not signed in at ${url}; use stak login, or set STAK_TOKEN to an API key`);
  return { url, token: (isRefused = false) => accessToken(saved, url, isRefused), isFixed: false };
}

// For the commands that talk to a server.
export async function connect(flags: ConnectFlags): Promise<Connection> {
  const { url, token, isFixed } = await authorize(flags);
  if (isFixed) return { url, client: createClient({ baseUrl: url, token: await token() }) };
  let refused = false;
  const client = createClient({
    baseUrl: url,
    token: () => {
      const wasRefused = refused;
      refused = false; // the next one is different
      return token(wasRefused);
    },
    onUnauthorized: () => {
      refused = true;
      return true;
    },
  });
  return { url, client };
}

// .env may contain the data folder, as for the server.
function configOf(flags: ConnectFlags): ClientConfig {
  loadEnvFile();
  return readClientConfig(flags);
}

/** The server of the flag, the one that runs in the current data folder, or the one of STAK_URL. */
function chooseUrl({ flagUrl, variableUrl }: ClientConfig): string | undefined {
  if (flagUrl !== undefined) return flagUrl;
  const server = findServer(readDataFolder({}));
  if (server !== undefined && variableUrl !== undefined && variableUrl !== server)
    console.error(`Talking to the server of this folder, ${server}, not to STAK_URL; --url names another.`);
  return server ?? variableUrl;
}

/** A server without a session. */
export function reach(flags: ConnectFlags): Connection & { home: string } {
  const config = configOf(flags);
  const url = chooseUrl(config) ?? localUrl;
  return { url, client: createClient({ baseUrl: url }), home: config.home };
}

export async function signIn(
  flags: ConnectFlags,
  send: (client: Client) => Promise<{ access_token: string; expires_in: number; refresh_token?: string }>,
  email: string,
): Promise<Connection> {
  const { client, url, home } = reach(flags);
  const tokens = await send(client);
  await createCredentialStore(home).write(url, { email, ...keepable(tokens) });
  return { url, client };
}

export async function signOut(flags: ConnectFlags): Promise<string> {
  const { client, url } = await connect(flags);
  // A session that has expired counts as ended.
  await client.accounts.logOut().catch((error: unknown) => {
    if (!(error instanceof StakError) || error.status !== 401) throw error;
  });
  await forget(flags, url);
  return url;
}

/** Removes the tokens of a session that has ended. */
export const forget = (flags: ConnectFlags, url: string): Promise<void> =>
  createCredentialStore(readClientConfig(flags).home).remove(url);

async function accessToken(saved: CredentialStore, url: string, isRefused: boolean): Promise<string> {
  const session = await saved.read(url);
  if (session && !isRefused && session.accessEndsMs - earlyMs > Date.now()) return session.accessToken;
  return saved.exclusively(async () => {
    const current = await saved.read(url);
    if (!current) throw new UsageError(`you are no longer signed in at ${url}; use stak login`);
    // Another process has refreshed it while this one waited.
    if (current.refreshToken !== session?.refreshToken) return current.accessToken;
    const client = createClient({ baseUrl: url });
    const { data } = await client.accounts.refresh({ body: { refresh_token: current.refreshToken } });
    const renewed = { ...current, ...keepable(data) };
    await saved.write(url, renewed);
    return renewed.accessToken;
  });
}

const keepable = (tokens: { access_token: string; expires_in: number; refresh_token?: string }) => ({
  accessToken: tokens.access_token,
  accessEndsMs: Date.now() + tokens.expires_in * 1000,
  refreshToken: tokens.refresh_token ?? '',
});
