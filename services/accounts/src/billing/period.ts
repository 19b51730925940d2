// The period of a subscription, as Stripe reports it.
export type BillingPeriod = {
  currentPeriodStart: string; // ISO timestamps
  billingCycleAnchor?: string;
  carried?: Carried;
};

// A calendar month whose usage also counts towards a period.
export type Carried = { from: string; to: string };

// For a subscription that is older than our record of its periods: its events were counted by calendar month until now.
// If the period began before this calendar month, the month's count belongs to it. If it began within the month, the
// events before it cannot be told from those after, so the period starts at zero, in the customer's favour. Nothing is
// copied, so nothing is counted twice.
export function carriedBy(period: BillingPeriod, nowMs: number): Carried | undefined {
  const from = new Date(nowMs).toISOString().slice(0, 7);
  const startMs = usagePeriodStart(period, nowMs);
  return startMs <= Date.parse(`${from}-01T00:00:00Z`)
    ? { from, to: new Date(startMs).toISOString() }
    : undefined;
}

// The start of the usage period that contains `nowMs`. Quotas are monthly, so a yearly subscription has twelve periods,
// each starting on the day and at the time of its billing anchor. As at Stripe, an anchor on the 31st renews on the
// last day of a shorter month. A trial is a separate period before the anchor. Later periods follow from the anchor
// alone, so a late Stripe event delays nothing.
export function usagePeriodStart(period: BillingPeriod, nowMs: number): number {
  const startedMs = Date.parse(period.currentPeriodStart);
  const anchorMs = Date.parse(period.billingCycleAnchor ?? period.currentPeriodStart);
  const [anchor, now] = [new Date(anchorMs), new Date(nowMs)];
  let months =
    (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth();
  if (addMonths(anchor, months) > nowMs) months -= 1;
  return Math.max(addMonths(anchor, months), Math.min(startedMs, nowMs));
}

function addMonths(from: Date, months: number): number {
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const sinceMidnight = from.getTime() % 86_400_000;
  return Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + sinceMidnight;
}
