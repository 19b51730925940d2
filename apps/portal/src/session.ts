import { type ApiTypes, type ClientSettings, createClient, StakError } from '@stak/client';
import { useSyncExternalStore } from 'react';

export const tenantId = decodeURIComponent(window.location.pathname.split('/')[2] ?? '');

// A host passes its token in the fragment of the address, which browsers never send, or in messages from the page that
// frames this one. The server's headers allow only the tenant's own pages to frame it. People who sign in here get a
// cookie that no script can read; the access token lives in memory only.

export type Session =
  | { state: 'starting' }
  | { state: 'signed-out'; link?: string; invitation?: string; refused?: string }
  | { state: 'asking'; given: string; who: string } // whether to use the token in the address
  | { state: 'waiting' } // for a token from the framing page
  | { state: 'expired' } // the host's token has expired and there is no new one
  | { state: 'signed-in'; by: 'host' | 'cookie'; who: string };

let token: string | undefined;
let current: Session = { state: 'starting' };
const listeners = new Set<() => void>();

function become(next: Session): void {
  current = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const useSession = (): Session => useSyncExternalStore(subscribe, () => current);

const isFramed = window.parent !== window;
const hostWaitMs = 10_000;
let heardHost: ((given: string) => void) | undefined;

window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
  const message = data as { type?: unknown; token?: unknown } | null;
  if (!isFramed || source !== window.parent || message?.type !== 'stak:token') return;
  if (typeof message.token !== 'string') return;
  token = message.token;
  become({ state: 'signed-in', by: 'host', who: personOf(token) });
  heardHost?.(message.token);
});

// Contains nothing but the request for a token, because the framing page is unknown here.
const askHost = (): Promise<boolean> =>
  new Promise(resolve => {
    const late = setTimeout(() => resolve(false), hostWaitMs);
    heardHost = () => {
      clearTimeout(late);
      resolve(true);
    };
    window.parent.postMessage({ type: 'stak:token-needed', tenant: tenantId }, '*');
  });

async function renew(): Promise<boolean> {
  if (current.state === 'signed-in' && current.by === 'host') {
    const { who } = current;
    // Never sends one person's request with another person's token.
    if (isFramed && (await askHost())) return who === personOf(token ?? '');
    become({ state: 'expired' });
    return false;
  }
  return refresh();
}

const clientSettings: ClientSettings = {
  baseUrl: '',
  credentials: 'same-origin',
  token: () => token,
  onUnauthorized: renew,
};
export const client = createClient(clientSettings);
// For routes without a token, where a refusal is the answer.
const anonymous = createClient({ baseUrl: '', credentials: 'same-origin' });

// Pages served over plain HTTP from another machine have no locks; there tabs do not wait.
const takeTurns = (work: () => Promise<boolean>): Promise<boolean> =>
  'locks' in navigator ? navigator.locks.request('stak-portal-refresh', work) : work();

const refresh = (): Promise<boolean> =>
  takeTurns(async () => {
    try {
      const { data } = await anonymous.tenants.refreshSession({ tenant_id: tenantId, body: {} });
      // Somebody else has signed in in another tab. What this tab shows, and was about to send, is not theirs.
      if (current.state === 'signed-in' && current.who !== personOf(data.access_token)) {
        window.location.reload();
        return false;
      }
      signedIn(data);
      return true;
    } catch (error) {
      // An unreachable server has not signed anybody out.
      if (error instanceof StakError && error.status === 401) signedOut();
      return false;
    }
  });

function signedIn({ access_token }: { access_token: string }): void {
  token = access_token;
  if (current.state !== 'signed-in')
    become({ state: 'signed-in', by: 'cookie', who: personOf(access_token) });
}

function signedOut(): void {
  token = undefined;
  become({ state: 'signed-out' });
}

// Unverified: the server checks the token and refuses an invalid one.
function claimsOf(jwt: string): { sub?: string; exp?: number } {
  try {
    return JSON.parse(atob(jwt.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}
const personOf = (jwt: string): string => claimsOf(jwt).sub ?? '';
const renewBeforeMs = 30_000;

// For components that keep a token and request another when it is refused.
export async function freshToken(refused?: string): Promise<string> {
  const endsMs = (claimsOf(token ?? '').exp ?? Number.POSITIVE_INFINITY) * 1000;
  if (token === undefined || token === refused || endsMs < Date.now() + renewBeforeMs) await renew();
  return token ?? '';
}

export type Portal = ApiTypes['tenants.getPortal']['data'];
export const readPortal = async (): Promise<Portal> =>
  (await anonymous.tenants.getPortal({ tenant_id: tenantId })).data;

function enter(host: string): void {
  token = host;
  become({ state: 'signed-in', by: 'host', who: personOf(host) });
}

async function resume(): Promise<void> {
  if (!(await refresh()) && current.state === 'starting') become({ state: 'signed-out' });
}

export const session = {
  async start(): Promise<void> {
    const given = new URLSearchParams(window.location.hash.slice(1));
    const [host, link, invitation, refused] = ['token', 'sign-in', 'invitation', 'refused'].map(name =>
      given.get(name),
    );
    // Removes it from the history and the address bar.
    if (host || link || invitation || refused)
      window.history.replaceState(null, '', window.location.pathname + window.location.search);
    // Anybody can send a link with a token of their own. Only the tenant's pages can frame this one.
    if (host && !isFramed) return become({ state: 'asking', given: host, who: personOf(host) });
    if (host) return enter(host);
    if (link) return become({ state: 'signed-out', link });
    if (invitation) return become({ state: 'signed-out', invitation });
    if (refused) return become({ state: 'signed-out', refused });
    if (isFramed) {
      become({ state: 'waiting' });
      if (!(await askHost()) && current.state === 'waiting') await refresh();
      return;
    }
    await resume();
  },
  // The visitor wants to be the person in the address, or not.
  accept(given: string): void {
    enter(given);
  },
  async decline(): Promise<void> {
    become({ state: 'starting' });
    await resume();
  },
  ask: async (email: string) =>
    (await anonymous.tenants.requestSignIn({ tenant_id: tenantId, body: { email } })).data,
  async finish(proof: ApiTypes['tenants.signIn']['args']['body']): Promise<void> {
    signedIn((await anonymous.tenants.signIn({ tenant_id: tenantId, body: proof })).data);
  },
  async join(invitation: string, display_name: string): Promise<void> {
    const body = { token: invitation, display_name };
    signedIn((await anonymous.tenants.joinPortal({ tenant_id: tenantId, body })).data);
  },
  async signOut(): Promise<void> {
    await anonymous.tenants.signOut({ tenant_id: tenantId });
    signedOut();
  },
};
