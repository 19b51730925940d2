import { createEngine } from '@stak/engine';
import { createIds, systemClock } from '@stak/kit';
import type { Attributes } from '@stak/table';
import { ferryhookEvents } from '@stak/webhooks';
import { withText, writeCopies } from '../copies.ts';

const tableName = ferryhookEvents.name;
const shardChars = 4; // the end of an id says which shard its items are in

export type Copies = { eventIds: readonly string[]; ofEach: number; dueAt: number };

// Copies events in the store of a stopped server: many of each event, which differ only in their ids. All their
// deliveries are due at the same time.
export async function copyEvents(path: string, { eventIds, ofEach, dueAt }: Copies): Promise<void> {
  const engine = await createEngine({ path, sweepIntervalMs: 0 });
  const ids = createIds({ clock: systemClock });
  const trees: Attributes[][] = [];
  for (const eventId of eventIds) trees.push(await readTree(engine.client, eventId));
  function* copies() {
    for (const [i, eventId] of eventIds.entries())
      for (let n = 0; n < ofEach; n++) {
        const id = ids.next('evt').slice(0, -shardChars) + eventId.slice(-shardChars);
        for (const item of trees[i]!) yield copyOf(item, eventId, id, dueAt);
      }
  }
  try {
    await writeCopies(engine.client, tableName, copies());
  } finally {
    await engine.close();
  }
}

function copyOf(item: Attributes, eventId: string, id: string, dueAt: number): Attributes {
  const copy = withText(item, eventId, id);
  return copy.dueAt === undefined ? copy : { ...withText(copy, String(copy.dueAt), String(dueAt)), dueAt };
}

type Client = Awaited<ReturnType<typeof createEngine>>['client'];

async function readTree(client: Client, eventId: string): Promise<Attributes[]> {
  const below = await client.query({
    TableName: tableName,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': `EVT#${eventId}` },
  });
  const page = await client.query({
    TableName: tableName,
    IndexName: 'GSI1',
    KeyConditionExpression: 'GSI1PK = :pk',
    ExpressionAttributeValues: { ':pk': `EVTID#${eventId}` },
  });
  const { PK, SK } = page.Items![0]!;
  const { Item } = await client.get({ TableName: tableName, Key: { PK, SK } });
  return [Item!, ...below.Items!];
}
