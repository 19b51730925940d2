// Of a subscription, as Stripe says it.
export type BillingPeriod = {
  currentPeriodStart: string; // ISO timestamps
  billingCycleAnchor?: string;
  carried?: Carried;
};

// The usage of a calendar month that counts for a period as well.
export type Carried = { from: string; to: string };

// For a subscription that ran before its periods were written down: events were counted by the calendar until now. What
// was counted in this calendar month belongs to the period if that began before the month. If it began within, nobody
// can tell the events before it from those after: then it begins at zero, in the customer's favour. Nothing is copied,
// so nothing is counted twice.
export function carriedBy(period: BillingPeriod, nowMs: number): Carried | undefined {
  const from = new Date(nowMs).toISOString().slice(0, 7);
  const startMs = usagePeriodStart(period, nowMs);
  return startMs <= Date.parse(`${from}-01T00:00:00Z`)
    ? { from, to: new Date(startMs).toISOString() }
    : undefined;
}

// When the usage period began that a moment lies in. Quotas are by the month, so a year that is paid for at once has
// twelve of them, each beginning on the day and at the time of the subscription's own anchor, as Stripe's months do:
// what began on the 31st renews on the last day of a shorter month. A trial has a period of its own before the anchor.
// The periods that follow are known from the anchor alone: an event of Stripe that comes late delays nothing.
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
