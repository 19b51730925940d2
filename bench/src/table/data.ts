// A message of ten attributes, as passed in and as stored.
export const key = { tenant_key: 'acme', uid: 'ann', inbox_key: 'main', id: '0mjuxvy9s001' };

export const message = {
  ...key,
  title: 'Your invoice is ready',
  body: 'The invoice of March is ready. It will be charged to your card on the first of April. '.repeat(3),
  sender: 'billing',
  status: 'unread' as const,
  received: 1_764_000_000,
  expiredat: 1_772_000_000,
};

export const stored = {
  ...message,
  kind: 'UM',
  pk: 't#acmeU#ann#main',
  sk: 'm#0mjuxvy9s001',
  duepk: 't#acmeU#ann',
  duesk: 'unread#0mjuxvy9s001',
};
