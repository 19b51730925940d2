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
  // Needs no address: the passkey identifies its user.
  async signInWithPasskey(): Promise<void> {
    const { data: begun } = await client.accounts.beginPasskeySignIn();
    const passkey = await showPasskey(begun.options);
    become((await client.accounts.signInWithPasskey({ body: { passkey, cookie: true } })).data as Tokens);
  },
  async stepUpWithPasskey(): Promise<void> {
    const { data: begun } = await client.accounts.beginPasskeyStepUp();
    await client.accounts.stepUp({ body: { passkey: await showPasskey(begun.options) } });
  },
  // 'mailed' if the server verifies addresses first: a link in an e-mail continues the sign-up.
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
  // With the one-time token of the link that the server printed when it started.
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
  // Everything on the page belongs to the organisation, so the page is reloaded for the other one.
  async switchTo(organisation: string): Promise<void> {
    await client.accounts.switchOrganisation({ body: { accountId: organisation, cookie: true } });
    window.location.assign('/console/');
  },
  // Leaving ends this session too, so it first switches to another organisation, if there is one.
  async leave(organisation: string, other: string | undefined): Promise<void> {
    const accountId = organisation;
    if (other === undefined) await client.accounts.leaveOrganisation({ accountId });
    else {
      const body = { accountId: other, cookie: true };
      const { access_token: token } = (await client.accounts.switchOrganisation({ body })).data as Tokens;
      // The cookie is now for the other organisation, so the page is left even if this fails.
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

// A refresh token can be used once: all calls of this tab wait for one exchange, and tabs take turns.
function refresh(): Promise<boolean> {
  refreshing ??= takeTurns(exchange).finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

// Pages served over plain HTTP from another machine have no locks; there tabs do not wait.
const takeTurns = (work: () => Promise<boolean>): Promise<boolean> =>
  'locks' in navigator ? navigator.locks.request('stak-refresh', work) : work();

async function exchange(): Promise<boolean> {
  try {
    const { data } = await createClient({ baseUrl: '', credentials: 'same-origin' }).accounts.refresh({
      body: {},
    });
    const tokens = data as Tokens;
    // Another tab has switched the organisation, or somebody else has signed in there. What this tab shows, and was
    // about to send, belongs to the former one.
    if (holder && (holder.account_id !== tokens.account_id || holder.user_id !== tokens.user_id)) {
      window.location.reload();
      return false;
    }
    become(tokens);
    return true;
  } catch (error) {
    // An unreachable server has not signed anybody out.
    if (error instanceof StakError && error.status === 401) become(undefined);
    return false;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof StakError ? error.detail : error instanceof Error ? error.message : String(error);
