import type { Client, NativeItem } from '../../src/index.ts';
import type { Random } from './random.ts';

// An operation of a writer is data: the child process carries it out, the parent knows from it what must be found in
// the store. A writer's items are its own; the counters belong to everyone.

export const tableName = 'stock';
export const writerCount = 32;
export const counterCount = 16;
export const unitsPerCounter = 1000;

export type Key = { pk: string; sk: string };
export type Write =
  | { kind: 'put'; key: Key; item: NativeItem }
  | { kind: 'add'; key: Key; amount: number }
  | { kind: 'remove'; key: Key };

export type Operation = {
  // Written into every item, so that a change record tells which operation made it.
  id: string;
  kind: 'put' | 'create' | 'add' | 'remove' | 'refused' | 'move' | 'once';
  writes: Write[];
};

const kinds = [
  ...(['put', 'put', 'put', 'create', 'add', 'add', 'remove'] as const),
  ...(['refused', 'move', 'move', 'move', 'once', 'once'] as const),
];

export const counterKey = (counter: number): Key => ({ pk: 'counter', sk: String(counter).padStart(2, '0') });

export function planOperation(random: Random, id: string, writer: number, expiring: boolean): Operation {
  const kind = random.pick(kinds);
  const pk = `writer-${writer}`;
  const slot: Key = { pk, sk: `slot-${random.below(20)}` };
  const fresh: Key = { pk, sk: `${kind}-${id}` };
  const put = (key: Key): Write => ({ kind: 'put', key, item: makeItem(random, key, id, expiring) });
  const add = (key: Key, amount: number): Write => ({ kind: 'add', key, amount });
  switch (kind) {
    case 'put':
      return { id, kind, writes: [put(slot)] };
    case 'create':
      return { id, kind, writes: [put(fresh)] };
    case 'add':
      return { id, kind, writes: [add(random.below(2) ? { pk, sk: 'count' } : counterKey(0), 1)] };
    case 'remove':
      return { id, kind, writes: [{ kind, key: slot }] };
    case 'refused':
      return { id, kind, writes: [] };
    case 'move': {
      const from = 1 + random.below(counterCount - 1);
      const to = 1 + ((from + random.below(counterCount - 2)) % (counterCount - 1));
      return { id, kind, writes: [add(counterKey(from), -1), add(counterKey(to), 1), put(fresh)] };
    }
    case 'once':
      return { id, kind, writes: [add({ pk, sk: 'once' }, 1), put(fresh)] };
  }
}

const largeBody = 20_000; // overflow pages
const daySeconds = 24 * 60 * 60;

// Only items that are written once may expire: for them a removal by the sweeper can mean one thing only.
function makeItem(random: Random, key: Key, op: string, expiring: boolean): NativeItem {
  const expires = Math.floor(Date.now() / 1000) + (expiring && random.below(2) ? -60 : daySeconds);
  return {
    ...key,
    op,
    owner: `owner-${random.below(50)}`,
    at: random.below(1_000_000),
    rank: `rank-${random.below(1000)}`,
    late: `late-${random.below(50)}`,
    ...(random.below(2) && { sparse: random.below(1000) }),
    ...(!key.sk.startsWith('slot') && random.below(2) && { expires }),
    body: 'x'.repeat(random.below(50) ? random.below(600) : largeBody),
  };
}

export async function execute(client: Client, operation: Operation): Promise<void> {
  const { id, kind, writes } = operation;
  if (kind === 'refused') return expectRefusal(client, id);
  if (kind === 'move' || kind === 'once') {
    const request = transactionOf(operation);
    await client.transactWrite(request);
    // The answer may have been lost on its way: a caller asks again.
    if (kind === 'once') await client.transactWrite(request);
    return;
  }
  const [write] = writes;
  if (write?.kind === 'put') {
    const onlyNew = kind === 'create' && { ConditionExpression: 'attribute_not_exists(pk)' };
    await client.put({ TableName: tableName, Item: write.item, ...onlyNew });
  }
  if (write?.kind === 'remove') await client.delete({ TableName: tableName, Key: write.key });
  if (write?.kind === 'add') await client.update({ TableName: tableName, ...addition(write, id) });
}

export function transactionOf({ id, kind, writes }: Operation) {
  return {
    ...(kind === 'once' && { ClientRequestToken: id }),
    TransactItems: writes.map(write => {
      if (write.kind === 'put') return { Put: { TableName: tableName, Item: write.item } };
      if (write.kind === 'add') return { Update: { TableName: tableName, ...addition(write, id) } };
      return { Delete: { TableName: tableName, Key: write.key } };
    }),
  };
}

const addition = ({ key, amount }: Extract<Write, { kind: 'add' }>, op: string) => ({
  Key: key,
  UpdateExpression: 'SET op = :op ADD units :amount',
  ExpressionAttributeValues: { ':op': op, ':amount': amount },
});

async function expectRefusal(client: Client, op: string): Promise<void> {
  const refused = await client
    .put({
      TableName: tableName,
      Item: { ...counterKey(1), op, units: -1 },
      ConditionExpression: 'attribute_not_exists(pk)',
    })
    .then(
      () => false,
      error => (error as Error).name === 'ConditionalCheckFailedException',
    );
  if (!refused) throw new Error('a condition that does not hold was not refused');
}
