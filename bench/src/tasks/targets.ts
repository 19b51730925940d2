import { judge, type Target, type Verdict } from '../gates.ts';
import type { CostRow } from './costs.ts';
import type { OperationName, Operations } from './operations.ts';
import type { Searching } from './search.ts';

// Parts that were not run are missing.
export type Results = { costs?: CostRow[]; operations?: Operations; search?: Searching };
export const partNames = ['costs', 'operations', 'search'] as const;
export type Part = (typeof partNames)[number];

const growthOf = (operations: Results['operations'], name: OperationName): number | undefined =>
  operations && operations.measures[`${name}, large`].p50Ms / operations.measures[`${name}, small`].p50Ms;

export function judgeResults({ operations, search }: Results, parts: readonly Part[]): Verdict[] {
  const of = (part: Part): Pick<Target, 'required'> => ({ required: parts.includes(part) });
  const flat = (title: string, name: OperationName): Target => ({
    name: `${title} with many tasks stored, over few`,
    measured: growthOf(operations, name),
    bound: 'below',
    limit: 1.5, // what the engine promises for its own growth
    unit: 'times',
    ...of('operations'),
  });
  const targets: Target[] = [
    {
      name: 'list of 50, over the bare query',
      measured:
        operations && operations.measures['list, small'].p50Ms / operations.measures['query, small'].p50Ms,
      bound: 'at most',
      limit: 3,
      unit: 'times',
      ...of('operations'),
    },
    flat('create', 'create'),
    flat('get', 'get'),
    flat('list of 50', 'list'),
    flat('status change', 'status'),
    {
      name: 'search, faster than a scan with a filter',
      measured: search && search.measures.scan.p50Ms / search.measures.search.p50Ms,
      bound: 'at least',
      limit: 20,
      unit: 'times',
      ...of('search'),
    },
  ];
  return targets.map(judge);
}
