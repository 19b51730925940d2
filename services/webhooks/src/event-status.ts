import type { DeliveryState, DeliverySummary, EventStatus } from './events-table.ts';

const finished: ReadonlySet<DeliveryState> = new Set(['delivered', 'failed', 'filtered', 'cancelled']);

export const isFinished = (state: DeliveryState): boolean => finished.has(state);

// What an event is, from what became of each connection's latest run. Filtered deliveries count only if there is
// nothing else. An event of a source without connections is over as well: nobody wanted it.
export function statusOf(deliveries: Readonly<Record<string, DeliverySummary>>): EventStatus {
  const states = new Set(Object.values(deliveries).map(({ state }) => state));
  if (states.has('retrying')) return 'retrying';
  const isBegun = [...states].some(isFinished);
  if (states.has('pending')) return isBegun ? 'processing' : 'received';
  const hasFailed = states.has('failed') || states.has('cancelled');
  if (states.has('delivered')) return hasFailed ? 'partial' : 'delivered';
  return hasFailed ? 'failed' : 'filtered';
}
