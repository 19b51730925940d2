import { type ClientSettings, createClient, StakError } from '@stak/client';
import { watchedFetch } from '../shell/reachability.tsx';

// The access token lives in memory only; the refresh token in a cookie that no script can read.
let accessToken: string | undefined;
let refreshing: Promise<boolean> | undefined;

export const clientSettings: ClientSettings = {
  baseUrl: '',
  credentials: 'same-origin',
  fetch: watchedFetch,
  token: () => accessToken,
  onUnauthorized: () => refresh(),
};
export const client = createClient(clientSettings);

type Tokens = { access_token: string };
const listeners = new Set<() => void>();

function become(token: string | undefined): void {
  const wasSignedIn = accessToken !== undefined;
  accessToken = token;
  if (wasSignedIn !== (token !== undefined)) for (const listener of listeners) listener();
}

export const session = {
  isSignedIn: () => accessToken !== undefined,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  async signIn(email: string, password: string, code?: string): Promise<void> {
    const { data } = await client.accounts.logIn({
      body: { email, password, cookie: true, ...(code && { code }) },
    });
    become((data as Tokens).access_token);
  },
  async signUp(email: string, password: string, name: string): Promise<void> {
    const { data } = await client.accounts.signUp({ body: { email, password, name, cookie: true } });
    become((data as Tokens).access_token);
  },
  // With the token of the link that the server printed when it started. It is good once.
  async openDemo(token: string): Promise<void> {
    const response = await watchedFetch('/console/demo/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    const answer = (await response.json()) as Tokens & { detail?: string };
    if (!response.ok) throw new Error(answer.detail);
    become(answer.access_token);
  },
  async signOut(): Promise<void> {
    await client.accounts.logOut();
    become(undefined);
  },
  async endAll(): Promise<void> {
    await client.accounts.endSessions();
    become(undefined);
  },
  // At the first load: whoever was signed in still is.
  resume: () => refresh(),
};

// A refresh token is good once: all calls of this tab wait for one exchange, and all tabs take turns.
function refresh(): Promise<boolean> {
  refreshing ??= takeTurns(exchange).finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

// Browsers have no locks for pages that came by plain http from another machine: there tabs do not wait.
const takeTurns = (work: () => Promise<boolean>): Promise<boolean> =>
  'locks' in navigator ? navigator.locks.request('stak-refresh', work) : work();

async function exchange(): Promise<boolean> {
  try {
    const { data } = await createClient({ baseUrl: '', credentials: 'same-origin' }).accounts.refresh({
      body: {},
    });
    become((data as Tokens).access_token);
    return true;
  } catch (error) {
    // A server that cannot be reached has not signed anybody out.
    if (error instanceof StakError && error.status === 401) become(undefined);
    return false;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof StakError ? error.detail : error instanceof Error ? error.message : String(error);
