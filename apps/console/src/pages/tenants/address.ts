// Where the pages of a tenant are, in their address, so that it can be sent to somebody. What the agent does and what
// the tenant is are two pages with tabs of their own.
export const agentTabs = ['chat', 'usage', 'memory', 'channels', 'skills'] as const;
export const tenantTabs = ['users', 'tokens', 'settings'] as const;
type AgentTab = (typeof agentTabs)[number];
export type TenantTab = (typeof tenantTabs)[number];
export type Tab = AgentTab | TenantTab;

export type TenantSearch = { tab?: Tab; conversation?: string; user?: string };

export function readTenantSearch(search: Record<string, unknown>): TenantSearch {
  const text = (name: string) => (typeof search[name] === 'string' ? { [name]: search[name] } : {});
  const tab = [...agentTabs, ...tenantTabs].find(one => one === search.tab);
  return { ...(tab && { tab }), ...text('conversation'), ...text('user') };
}

export const isTenantTab = (tab: Tab | undefined): tab is TenantTab => tenantTabs.some(one => one === tab);

// Instead of a conversation's id, which never begins with a dash: one that nobody has begun yet.
export const unbegun = '-';

export type Go = (to: TenantSearch) => void;
