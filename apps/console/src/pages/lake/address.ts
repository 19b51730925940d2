export const services = ['tasks', 'webhooks', 'inbox', 'agents'] as const;
export type Service = (typeof services)[number];
export type InsightsSearch = { service?: Service; days?: number };

export function readInsightsSearch(search: Record<string, unknown>): InsightsSearch {
  const service = services.find(one => one === search.service);
  const days = [7, 30, 90].find(count => count === Number(search.days));
  return { ...(service && { service }), ...(days !== undefined && { days }) };
}

export type SqlSearch = { sql?: string };
export const readSqlSearch = ({ sql }: Record<string, unknown>): SqlSearch =>
  typeof sql === 'string' && sql !== '' ? { sql } : {};
