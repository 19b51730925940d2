import { type ClientSettings, createClient, StakError } from '@stak/client';
import { watchedFetch } from '../shell/reachability.tsx';
import { showPasskey } from './passkey.ts';

// The access token lives in memory only; the refresh token in a cookie that no script can read.
let accessToken: string | undefined;
let holder: Holder | undefined;
let refreshing: Promise<boolean> | undefined;

export const clientSettings: ClientSettings = {
  baseUrl: '',
  credentials: 'same-origin',
  fetch: watchedFetch,
  token: () => accessToken,
  onUnauthorized: () => refresh(),
};
export const client = createClient(clientSettings);

type Holder = { account_id: string; user_id: string }; // the organisation and the person that the token is for
type Tokens = Holder & { access_token: string };
const listeners = new Set<() => void>();
const carriedKey = 'stak-carried-error';

function become(tokens: Tokens | undefined): void {
  const wasSignedIn = accessToken !== undefined;
  accessToken = tokens?.access_token;
  holder = tokens;
  if (wasSignedIn !== (tokens !== undefined)) for (const listener of listeners) listener();
}

export const session = {
  isSignedIn: () => accessToken !== undefined,
  accountId: () => holder?.account_id, // of the organisation that the page shows
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  async signIn(email: string, password: string, code?: string): Promise<void> {
    const { data } = await client.accounts.logIn({
      body: { email, password, cookie: true, ...(code && { code }) },
    });
    become(data as Tokens);
  },
  // Without an address and a password: the passkey says whose it is.
  async signInWithPasskey(): Promise<void> {
    const { data: begun } = await client.accounts.beginPasskeySignIn();
    const passkey = await showPasskey(begun.options);
    become((await client.accounts.signInWithPasskey({ body: { passkey, cookie: true } })).data as Tokens);
  },
  async stepUpWithPasskey(): Promise<void> {
    const { data: begun } = await client.accounts.beginPasskeyStepUp();
    await client.accounts.stepUp({ body: { passkey: await showPasskey(begun.options) } });
  },
  // 'mailed' where accounts are made for confirmed addresses only: a link in a mail goes on.
  async signUp(email: string, password: string, name: string): Promise<'signed in' | 'mailed'> {
    const person = { email, password, name };
    try {
      const { data } = await client.accounts.signUp({ body: { ...person, cookie: true } });
      become(data as Tokens);
      return 'signed in';
    } catch (error) {
      if (!(error instanceof StakError) || error.code !== 'accounts.sign_up_by_mail') throw error;
      await client.accounts.requestSignUp({ body: person });
      return 'mailed';
    }
  },
  async finishSignUp(token: string, password: string): Promise<void> {
    const { data } = await client.accounts.finishSignUp({ body: { token, password, cookie: true } });
    become(data as Tokens);
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
    become(answer);
  },
  async signOut(): Promise<void> {
    await client.accounts.logOut();
    become(undefined);
  },
  async endAll(): Promise<void> {
    await client.accounts.endSessions();
    become(undefined);
  },
  async deleteAccount(password: string | undefined): Promise<void> {
    await client.accounts.deleteMe({ body: password === undefined ? {} : { password } });
    become(undefined);
  },
  // Everything that is shown belongs to the organisation: it is loaded again, for the other one.
  async switchTo(organisation: string): Promise<void> {
    await client.accounts.switchOrganisation({ body: { accountId: organisation, cookie: true } });
    window.location.assign('/console/');
  },
  // Its sessions end with it, also this one: first it goes on elsewhere, if there is anywhere.
  async leave(organisation: string, other: string | undefined): Promise<void> {
    const accountId = organisation;
    if (other === undefined) await client.accounts.leaveOrganisation({ accountId });
    else {
      const body = { accountId: other, cookie: true };
      const { access_token: token } = (await client.accounts.switchOrganisation({ body })).data as Tokens;
      // The cookie is for the other one now: whatever comes of it, this page is over.
      await createClient({ baseUrl: '', token })
        .accounts.leaveOrganisation({ accountId })
        .catch(error => sessionStorage.setItem(carriedKey, messageOf(error)));
    }
    window.location.assign('/console/');
  },
  // The error of a page that had to be reloaded. It is shown once.
  takeCarriedError(): Error | undefined {
    const message = sessionStorage.getItem(carriedKey);
    sessionStorage.removeItem(carriedKey);
    return message === null ? undefined : new Error(message);
  },
  // At the first load, so that a user who was signed in still is.
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
    const tokens = data as Tokens;
    // In another tab somebody has switched, or somebody else has signed in: what this one shows, and was about to send,
    // is neither for that organisation nor by that person.
    if (holder && (holder.account_id !== tokens.account_id || holder.user_id !== tokens.user_id)) {
      window.location.reload();
      return false;
    }
    become(tokens);
    return true;
  } catch (error) {
    // A server that cannot be reached has not signed anybody out.
    if (error instanceof StakError && error.status === 401) become(undefined);
    return false;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof StakError ? error.detail : error instanceof Error ? error.message : String(error);
