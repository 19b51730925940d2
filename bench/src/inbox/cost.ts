import { join } from 'node:path';
import type { DynamoClient } from '@stak/table';
import { withText, writeCopies } from '../copies.ts';
import {
  draft,
  everything,
  inboxId,
  type OpenInbox,
  openInbox,
  origin,
  publicMessages,
  stateKey,
  tableName,
  userOf,
} from './inbox.ts';

// Counted in DynamoDB's units.
export type Cost = {
  few: number; // users of the small inbox
  many: number; // and of the large one
  broadcastToFew: number; // write units
  broadcastToMany: number;
  fanOut: number; // write units a recipient: the message copied, a counter added to
  publish: number; // write units to one user
  feed: { queries: number; readUnits: number };
  counts: { gets: number; readUnits: number };
};

export type CostSettings = { few: number; many: number; fanOutTo: number };

export async function measureCost(settings: CostSettings, folder: string): Promise<Cost> {
  const { few, many, fanOutTo } = settings;
  const small = await measureSmall(few, fanOutTo);
  const large = await openInbox(join(folder, 'large'));
  try {
    await addUsers(large, many);
    return { few, many, ...small, broadcastToMany: await broadcastUnits(large) };
  } finally {
    await large.close();
  }
}

async function measureSmall(users: number, fanOutTo: number) {
  const { calls, watch } = countCalls();
  const inbox = await openInbox(':memory:', watch);
  const { ledger, publish, feed, counts } = inbox;
  try {
    await addUsers(inbox, users);
    const broadcastToFew = await broadcastUnits(inbox);
    const fanOut = await fanOutUnits(inbox, fanOutTo);
    const toOne = () => publish(inboxId, { ...draft(), uids: [nameOf(0)] }, origin);
    for (let i = 0; i < 60; i++) await toOne();
    const measure = async (work: () => Promise<unknown>) => {
      await work(); // the first call fetches what is cached afterwards
      ledger.clear();
      calls.clear();
      await work();
    };
    await measure(toOne);
    const publishUnits = units(inbox, 'writeUnits');
    await measure(() => feed(userOf(nameOf(0)), everything, { limit: 30 }));
    const feedCost = { queries: calls.get('query') ?? 0, readUnits: units(inbox, 'readUnits') };
    await measure(() => counts(userOf(nameOf(0))));
    const countsCost = { gets: calls.get('get') ?? 0, readUnits: units(inbox, 'readUnits') };
    return { broadcastToFew, fanOut, publish: publishUnits, feed: feedCost, counts: countsCost };
  } finally {
    await inbox.close();
  }
}

const nameOf = (i: number): string => `user-${i}`;

// One user joins through the service; the others are copies.
async function addUsers({ client, join }: OpenInbox, users: number): Promise<void> {
  const first = nameOf(0);
  await join(userOf(first));
  const members = { TableName: tableName, KeyConditionExpression: 'pk = :pk' };
  const ofInbox = `t#${inboxId.tenant_key}R#${inboxId.inbox_key}`;
  const page = await client.query({ ...members, ExpressionAttributeValues: { ':pk': ofInbox } });
  const state = (await client.get({ TableName: tableName, Key: stateKey(first) })).Item!;
  const member = page.Items!.find(item => item.sk === `u#${first}`)!;
  function* copies() {
    for (let i = 1; i < users; i++)
      for (const item of [state, member]) yield withText(item, first, nameOf(i));
  }
  await writeCopies(client, tableName, copies());
  await client.update({
    TableName: tableName,
    Key: { pk: ofInbox, sk: 'c#*' },
    UpdateExpression: 'ADD #users :more',
    ExpressionAttributeNames: { '#users': 'users' },
    ExpressionAttributeValues: { ':more': users - 1 },
  });
}

async function broadcastUnits(inbox: OpenInbox): Promise<number> {
  await inbox.broadcast(inboxId, draft(), origin); // the first one creates the list
  inbox.ledger.clear();
  await inbox.broadcast(inboxId, draft(), origin);
  return units(inbox, 'writeUnits');
}

// The usual way: copies the message to each user, and adds one to their unread count.
async function fanOutUnits({ client }: OpenInbox, recipients: number): Promise<number> {
  const message = (await client.query(publicMessages(1))).Items![0]!;
  const billed = { TableName: tableName, ReturnConsumedCapacity: 'TOTAL' } as const;
  let total = 0;
  for (let i = 0; i < recipients; i++) {
    const pk = `fan-out#${i}`;
    const copied = await client.put({ ...billed, Item: { ...message, pk } });
    const counted = await client.update({
      ...billed,
      Key: { pk, sk: 'c#*' },
      UpdateExpression: 'ADD unread :one',
      ExpressionAttributeValues: { ':one': 1 },
    });
    for (const { ConsumedCapacity } of [copied, counted]) total += ConsumedCapacity!.CapacityUnits!;
  }
  return total / recipients;
}

const units = ({ ledger }: OpenInbox, kind: 'readUnits' | 'writeUnits'): number =>
  ledger.entries().reduce((sum, entry) => sum + entry[kind], 0);

function countCalls() {
  const calls = new Map<string, number>();
  const count = (name: string) => calls.set(name, (calls.get(name) ?? 0) + 1);
  const watch = (client: DynamoClient): DynamoClient => ({
    ...client,
    get: input => {
      count('get');
      return client.get(input);
    },
    query: input => {
      count('query');
      return client.query(input);
    },
  });
  return { calls, watch };
}
