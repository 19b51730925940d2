// The people and products of the demo's story.

export const people = [
  { user_id: 'ann', display_name: 'Ann Berger', email: 'ann@shop.example', role: 'admin' },
  { user_id: 'bob', display_name: 'Bob Okafor', email: 'bob@shop.example', role: 'member' },
  { user_id: 'mia', display_name: 'Mia Lindqvist', email: 'mia@mail.example', role: 'member' },
  { user_id: 'noah', display_name: 'Noah Castillo', email: 'noah@mail.example', role: 'member' },
  { user_id: 'zoe', display_name: 'Zoe Adeyemi', email: 'zoe@mail.example', role: 'member' },
  { user_id: 'emil', display_name: 'Emil Novak', email: 'emil@mail.example', role: 'member' },
] as const;

// Ann runs the shop and Bob helps; the others buy.
export const customers = people.slice(2);

type Customer = (typeof people)[number];

export const products = [
  { name: 'Oak chair', cents: 12_900 },
  { name: 'Reading lamp', cents: 4_900 },
  { name: 'Walnut desk', cents: 48_000 },
  { name: 'Wool rug', cents: 21_500 },
  { name: 'Bookshelf', cents: 16_900 },
  { name: 'Linen curtain', cents: 3_900 },
] as const;

export type Order = {
  number: number;
  customer: Customer;
  product: string;
  pieces: number;
  cents: number;
};

const currency = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });
export const euros = (cents: number): string => currency.format(cents / 100);

export const chores = [
  { title: 'Count the reading lamps', category: 'stock', priority: 'medium', dueInDays: -1 },
  { title: 'Renew the insurance', category: 'office', priority: 'high', dueInDays: -3 },
  { title: 'Photograph the new rugs', category: 'website', priority: 'low', dueInDays: 4 },
  { title: 'Order packing tape', category: 'stock', priority: 'medium', dueInDays: 1 },
  { title: 'Write the autumn newsletter', category: 'website', priority: 'medium', dueInDays: 6 },
  { title: 'Send the VAT return', category: 'office', priority: 'urgent', dueInDays: 2 },
  { title: 'Mend the wobbly shelf', category: 'shop', priority: 'low', dueInDays: 9 },
  { title: 'Plan the winter sale', category: 'website', priority: 'high', dueInDays: 13 },
  { title: 'Call the oak supplier', category: 'stock', priority: 'high', dueInDays: 0 },
  { title: 'Water the plants', category: 'shop', priority: 'low', dueInDays: 0 },
] as const;

export const announcements = [
  {
    title: 'Free shipping until Sunday',
    body: 'On everything that fits through a door.',
    category: 'offers',
  },
  { title: 'We close at noon on Friday', body: 'Orders are packed again on Monday.', category: 'news' },
  { title: 'The walnut desk is back', body: 'Twelve of them, from the same workshop.', category: 'offers' },
  { title: 'New: wool rugs', body: 'Woven in three sizes. Come and feel them.', category: 'news' },
] as const;

// All of them can be answered without a model.
export const questions = [
  { user: 'ann', content: 'Hello!' },
  { user: 'ann', content: 'How are my tasks?' },
  { user: 'ann', content: 'Any new messages?' },
  { user: 'mia', content: 'Any new messages?' },
  { user: 'mia', content: 'Remember that I only buy oak' },
  { user: 'ann', content: 'usage' },
  { user: 'bob', content: 'What can you do?' },
  { user: 'bob', content: 'Remember that the van leaves at four' },
  { user: 'mia', content: 'search my messages for oak' },
  { user: 'ann', content: 'Thank you!' },
] as const;
