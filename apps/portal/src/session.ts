import { type ApiTypes, type ClientSettings, createClient, StakError } from '@stak/client';
import { useSyncExternalStore } from 'react';

export const tenantId = decodeURIComponent(window.location.pathname.split('/')[2] ?? '');

// A token of the host comes by the fragment of the address, which no browser sends anywhere, or by messages of the
// page around this one. Only pages that the tenant named can be around it: the server says so with the page. People who
// sign in here have a cookie that no script can read; the token lives in memory alone.

export type Session =
  | { state: 'starting' }
  | { state: 'signed-out'; link?: string; invitation?: string; refused?: string }
  | { state: 'waiting' } // for the page around this one
  | { state: 'expired' } // the host's token is over, and nobody gives another
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

// Says nothing but that a token is wanted: which page is around this one is not known here.
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
    // What somebody was about to send is not sent with a token of somebody else.
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
// For routes that need no token: a refusal there is the answer.
const anonymous = createClient({ baseUrl: '', credentials: 'same-origin' });

// Browsers have no locks for pages that came by plain http from another machine: there tabs do not wait.
const takeTurns = (work: () => Promise<boolean>): Promise<boolean> =>
  'locks' in navigator ? navigator.locks.request('stak-portal-refresh', work) : work();

const refresh = (): Promise<boolean> =>
  takeTurns(async () => {
    try {
      const { data } = await anonymous.tenants.refreshSession({ tenant_id: tenantId, body: {} });
      // In another tab somebody else has signed in: what this one shows, and was about to send, is not theirs.
      if (current.state === 'signed-in' && current.who !== personOf(data.access_token)) {
        window.location.reload();
        return false;
      }
      signedIn(data);
      return true;
    } catch (error) {
      // A server that cannot be reached has not signed anybody out.
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

// Of a token that the server checks: what cannot be read here is refused there.
function claimsOf(jwt: string): { sub?: string; exp?: number } {
  try {
    return JSON.parse(atob(jwt.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}
const personOf = (jwt: string): string => claimsOf(jwt).sub ?? '';
const renewBeforeMs = 30_000;

// For components that keep a token and ask for another one when it is refused.
export async function freshToken(refused?: string): Promise<string> {
  const endsMs = (claimsOf(token ?? '').exp ?? Number.POSITIVE_INFINITY) * 1000;
  if (token === undefined || token === refused || endsMs < Date.now() + renewBeforeMs) await renew();
  return token ?? '';
}

export type Portal = ApiTypes['tenants.getPortal']['data'];
export const readPortal = async (): Promise<Portal> =>
  (await anonymous.tenants.getPortal({ tenant_id: tenantId })).data;

export const session = {
  async start(): Promise<void> {
    const given = new URLSearchParams(window.location.hash.slice(1));
    const [host, link, invitation, refused] = ['token', 'sign-in', 'invitation', 'refused'].map(name =>
      given.get(name),
    );
    // Neither the history nor somebody who looks at the address finds it.
    if (host || link || invitation || refused)
      window.history.replaceState(null, '', window.location.pathname + window.location.search);
    if (host) {
      token = host;
      return become({ state: 'signed-in', by: 'host', who: personOf(host) });
    }
    if (link) return become({ state: 'signed-out', link });
    if (invitation) return become({ state: 'signed-out', invitation });
    if (refused) return become({ state: 'signed-out', refused });
    if (isFramed) {
      become({ state: 'waiting' });
      if (!(await askHost()) && current.state === 'waiting') await refresh();
      return;
    }
    if (!(await refresh()) && current.state === 'starting') become({ state: 'signed-out' });
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
