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

// How somebody comes back from Stripe's checkout.
const checkouts = ['done', 'cancelled'] as const;
type Checkout = (typeof checkouts)[number];

export type AccountSearch = {
  tab?: AccountTab;
  checkout?: Checkout;
  by?: string; // of the audit trail: a person
  what?: string; // and a part of the text
};

const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined;

export const readAccountSearch = ({ tab, checkout, by, what }: Record<string, unknown>): AccountSearch => ({
  tab: accountTabs.find(name => name === tab),
  checkout: checkouts.find(name => name === checkout),
  by: textOf(by),
  what: textOf(what),
});
