export const accountTabs = [
  'keys',
  'members',
  'billing',
  'profile',
  'security',
  'sessions',
  'audit',
] as const;
export type AccountTab = (typeof accountTabs)[number];

// The outcome of Stripe's checkout, on the way back.
const checkouts = ['done', 'cancelled'] as const;
type Checkout = (typeof checkouts)[number];

export type AccountSearch = {
  tab?: AccountTab;
  checkout?: Checkout;
  by?: string; // of the audit trail: a person
  action?: string; // or its prefix, such as `key`
  from?: string; // a day, such as 2026-11-15
  to?: string;
  what?: string; // a part of the text
};

const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;

export const readAccountSearch = (search: Record<string, unknown>): AccountSearch => ({
  tab: accountTabs.find(name => name === search.tab),
  checkout: checkouts.find(name => name === search.checkout),
  by: textOf(search.by),
  action: textOf(search.action),
  from: dayOf(search.from),
  to: dayOf(search.to),
  what: textOf(search.what),
});
