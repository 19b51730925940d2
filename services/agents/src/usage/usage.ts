import type { ItemOf } from '@stak/table';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { daysOfTenant, daysOfUser, type tenantDay } from '../main-table.ts';
import { dateOf, spentOf } from './quota.ts';

type Day = Omit<ItemOf<typeof tenantDay>, 'tenant_id'>;

const figuresOf = ({ messages = 0, refunded = 0, model_turns = 0, ...day }: Partial<Day>) => ({
  messages,
  refunded,
  model_turns,
  input_tokens: day.input_tokens ?? 0,
  output_tokens: day.output_tokens ?? 0,
  cost_usd: spentOf(day) / limits.microsPerUsd,
  reserved_usd: (day.reserved_micros ?? 0) / limits.microsPerUsd,
});
type Figures = ReturnType<typeof figuresOf>;

const monthMs = 30 * 24 * 60 * 60 * 1000;

// The days of a tenant or of one of its users, by default the last thirty.
export async function readUsage(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  tenant_id: string,
  user_id: string | undefined,
  range: { from?: string; to?: string },
) {
  const nowMs = clock.now();
  const { from = dateOf(nowMs - monthMs), to = dateOf(nowMs) } = range;
  const bounds = { from: { date: from }, to: { date: to }, limit: limits.usageDays };
  const { items } =
    user_id === undefined
      ? await store.query(daysOfTenant, { tenant_id }, bounds)
      : await store.query(daysOfUser, { tenant_id, user_id }, bounds);
  const days = items.map(day => ({ date: day.date, ...figuresOf(day) }));
  const total = figuresOf({});
  for (const day of days)
    for (const name of Object.keys(total) as (keyof Figures)[]) total[name] += day[name];
  for (const name of ['cost_usd', 'reserved_usd'] as const)
    total[name] = Math.round(total[name] * limits.microsPerUsd) / limits.microsPerUsd;
  return { from, to, user_id: user_id ?? null, total, days };
}
