export const tabs = ['chat', 'usage', 'memory', 'users', 'channels', 'skills', 'settings'] as const;
export type Tab = (typeof tabs)[number];

// Where the page is, in its address, so that it can be sent to somebody.
export type TenantSearch = { tab?: Tab; conversation?: string; user?: string };

export function readTenantSearch(search: Record<string, unknown>): TenantSearch {
  const text = (name: string) => (typeof search[name] === 'string' ? { [name]: search[name] } : {});
  const tab = tabs.find(one => one === search.tab);
  return { ...(tab && { tab }), ...text('conversation'), ...text('user') };
}

// Instead of a conversation's id, which never begins with a dash: one that nobody has begun yet.
export const unbegun = '-';

export type Go = (to: TenantSearch) => void;
