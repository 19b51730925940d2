type Outcomes = { delivered: number; filtered: number; failed: number; waiting: number };
type Day = { received: number; statuses: Readonly<Record<string, number>> };

/** Counts what became of the events of a day. */
export function outcomesOf({ received, statuses }: Day = { received: 0, statuses: {} }): Outcomes {
  const sum = (...names: string[]) => names.reduce((total, name) => total + (statuses[name] ?? 0), 0);
  const delivered = sum('delivered');
  const filtered = sum('filtered', 'rejected');
  const failed = sum('failed', 'partial');
  return { delivered, filtered, failed, waiting: Math.max(0, received - delivered - filtered - failed) };
}

/**
 * The share of events that were delivered, of those that came to an end with a destination. It says the same as a chart
 * of these events: an event that arrived at the third attempt is no failure.
 */
export function deliveredShare(days: readonly Outcomes[]): number | null {
  const delivered = days.reduce((sum, day) => sum + day.delivered, 0);
  const ended = delivered + days.reduce((sum, day) => sum + day.failed, 0);
  return ended === 0 ? null : delivered / ended;
}
