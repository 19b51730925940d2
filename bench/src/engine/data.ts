// The benchmark's data: one tenant's inbox. A partition per user holds the messages, their keys ordered by time,
// and a counter; an index lists messages by category and status, newest last.

export type Shape = { users: number; messages: number; epochMs: number };
export type Key = { pk: string; sk: string };
export type Message = Key & {
  category_status: string;
  created_at: string;
  title: string;
  body: string;
  sender: string;
  link: string;
  priority: number;
  pinned: boolean;
};

export const tableName = 'bench-inbox';
export const queryLimit = 20;
const messagesPerUser = 200;

export const shapeOf = (messages: number, epochMs: number): Shape => ({
  messages,
  users: messages / messagesPerUser,
  epochMs,
});

export const createTable = {
  TableName: tableName,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: ['pk', 'sk', 'category_status', 'created_at'].map(AttributeName => ({
    AttributeName,
    AttributeType: 'S' as const,
  })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' as const },
    { AttributeName: 'sk', KeyType: 'RANGE' as const },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-category',
      KeySchema: [
        { AttributeName: 'category_status', KeyType: 'HASH' as const },
        { AttributeName: 'created_at', KeyType: 'RANGE' as const },
      ],
      Projection: { ProjectionType: 'ALL' as const },
    },
  ],
};

// Names of a kind have the same length, so that one record's bytes can be turned into another's by replacing its names
// in place.
const categories = ['billing', 'account', 'product', 'careers', 'reports', 'payouts', 'updates', 'surveys'];
export const categoryStatus = (n: number): string =>
  `${categories[n % categories.length]}#${n & 8 ? 'archived' : 'unopened'}`;

export const userName = (user: number): string => `usr_${String(user).padStart(8, '0')}`;
export const partitionKey = (user: number): string => `TENANT#acme#USER#${userName(user)}`;
export const counterKey = (user: number): Key => ({ pk: partitionKey(user), sk: 'COUNTER' });
const idempotencyKey = (id: string): Key => ({ pk: `IDEMPOTENCY#${id}`, sk: 'RECORD' });

// Base36 milliseconds, then digits that distinguish ids of one millisecond: 24 characters, like Stak's own ids.
export const idAt = (ms: number, serial: number): string =>
  ms.toString(36).padStart(9, '0') + serial.toString(36).padStart(15, '0');

// A well-mixed number for each n, the same in every process.
export function mix(n: number): number {
  let h = Math.imul(n ^ 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

const body =
  'Your payment of 48.20 EUR for the Team plan has been received. The invoice is attached to your account and ' +
  'will be kept for ten years. If anything on it looks wrong, answer to this message within fourteen days.';

export function message(user: number, id: string, atMs: number, category: number): Message {
  return {
    pk: partitionKey(user),
    sk: `MSG#${id}`,
    category_status: categoryStatus(category),
    created_at: new Date(atMs).toISOString(),
    title: 'Your invoice for March is ready',
    body,
    sender: 'billing@acme.example',
    link: `https://app.acme.example/inbox/${id}`,
    priority: category & 3,
    pinned: false,
  };
}

export const counter = (user: number) => ({ ...counterKey(user), unread: 1001, total: 1001 });

export const idempotencyRecord = (id: string, user: number) => ({
  ...idempotencyKey(id),
  user_id: userName(user),
  status: 'done',
  expires_at: 1_893_456_000,
});

// Messages arrive in order of time, each for some user, so a store grows in many partitions at once.
const ageMs = ({ messages, epochMs }: Shape, n: number): number => epochMs - (messages - n) * 1000;
const userOf = ({ users }: Shape, n: number): number => mix(n) % users;

const messageAt = (shape: Shape, n: number): Message =>
  message(userOf(shape, n), idAt(ageMs(shape, n), n), ageMs(shape, n), n);

export const messageKeyAt = (shape: Shape, n: number): { user: number; id: string } => ({
  user: userOf(shape, n),
  id: idAt(ageMs(shape, n), n),
});

export function* batches(shape: Shape, size = 25): Generator<object[]> {
  for (let user = 0; user < shape.users; user += size) {
    const count = Math.min(size, shape.users - user);
    yield Array.from({ length: count }, (_, i) => counter(user + i));
  }
  for (let n = 0; n < shape.messages; n += size) {
    const count = Math.min(size, shape.messages - n);
    yield Array.from({ length: count }, (_, i) => messageAt(shape, n + i));
  }
}
