import { createHash } from 'node:crypto';
import type { Insight } from '@stak/table';
import type { Plan } from '../tables.ts';

export const insightSignature = ({ of, groups, sums, where }: Insight): string =>
  createHash('sha256')
    .update(JSON.stringify([of, groups, sums, where]))
    .digest('hex')
    .slice(0, 16);

export const insightsOf = (
  { plan }: { plan: Plan },
  entity: string,
  insights: readonly Insight[],
): Insight[] =>
  insights.filter(insight => insight.entity.table.name === plan.table.name && insight.entity.name === entity);

// Sums of existing items are computed again; sums of changes, and of expired items, continue from the last ones.
export function goldNames({ name, of }: Insight): { name: string; isRunning: boolean }[] {
  if (of === 'changes') return [{ name, isRunning: true }];
  const current = { name, isRunning: false };
  return of === 'kept' ? [current, { name: `${name}.expired`, isRunning: true }] : [current];
}
