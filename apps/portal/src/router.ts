import { useSyncExternalStore } from 'react';
import { tenantId } from './session.ts';

const listeners = new Set<() => void>();
const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  window.addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('popstate', listener);
  };
};

export const hrefOf = (page: string): string => `/portal/${encodeURIComponent(tenantId)}/${page}`;

// The page is the path after the tenant: `chat`, `tasks`, `admin/users`.
const pageNow = (): string => window.location.pathname.split('/').slice(3).join('/');
export const usePage = (): string => useSyncExternalStore(subscribe, pageNow);

export function go(page: string): void {
  window.history.pushState(null, '', hrefOf(page));
  for (const listener of listeners) listener();
}
