// The state of a tenant's pages is in their URLs, so that it can be shared as a link. The tenant and its agent are two
// pages with their own tabs.
export const agentTabs = ['chat', 'agents', 'usage', 'memory', 'channels', 'skills'] as const;
export const tenantTabs = ['users', 'portal', 'tokens', 'settings'] as const;
type AgentTab = (typeof agentTabs)[number];
export type TenantTab = (typeof tenantTabs)[number];
export type Tab = AgentTab | TenantTab;

export type TenantSearch = { tab?: Tab; conversation?: string; user?: string; agent?: string };

export function readTenantSearch(search: Record<string, unknown>): TenantSearch {
  const text = (name: string) => (typeof search[name] === 'string' ? { [name]: search[name] } : {});
  const tab = [...agentTabs, ...tenantTabs].find(one => one === search.tab);
  return { ...(tab && { tab }), ...text('conversation'), ...text('user'), ...text('agent') };
}

export const isTenantTab = (tab: Tab | undefined): tab is TenantTab =>
  tenantTabs.some(tenantTab => tenantTab === tab);

// Stands for a new conversation. Ids never start with a dash.
export const unbegun = '-';

export type Go = (to: TenantSearch) => void;
