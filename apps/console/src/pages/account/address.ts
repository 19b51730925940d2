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
export const checkouts = ['done', 'cancelled'] as const;
export type Checkout = (typeof checkouts)[number];
