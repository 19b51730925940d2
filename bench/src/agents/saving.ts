import type { DynamoClient } from '@stak/table';
import { type OpenAgents, openAgents, question, tableName } from './agents.ts';

// Units that DynamoDB would bill for one turn of a conversation.
export type TurnUnits = { turn: number; readUnits: number; writeUnits: number };
export type Saving = {
  // `first`: while the documented item, which contains the messages of the window, is smaller than 1 KB.
  ours: { first: TurnUnits; few: TurnUnits; many: TurnUnits };
  // The documented way: the whole item is read, and written again with the new turn appended. `last` is the last turn
  // that fits into an item, if `many` does not.
  documents: { few: TurnUnits; many?: TurnUnits; last?: TurnUnits };
};
export type SavingSettings = { few: number; many: number };

const firstTurns = 5;

export async function measureSaving({ few, many }: SavingSettings): Promise<Saving> {
  const agents = await openAgents();
  try {
    const id = await agents.begin();
    const ours = {
      first: await continueTo(agents, id, firstTurns),
      few: await continueTo(agents, id, few),
      many: await continueTo(agents, id, many),
    };
    return { ours, documents: await rewriteItems(agents.client, few, many) };
  } finally {
    await agents.close();
  }
}

async function continueTo({ ledger, say }: OpenAgents, id: string, turn: number): Promise<TurnUnits> {
  for (let seq = 0; seq < turn; ) {
    ledger.clear();
    seq = (JSON.parse(await say(id)) as { seq: number }).seq;
  }
  const sum = (kind: 'readUnits' | 'writeUnits') =>
    ledger.entries().reduce((all, entry) => all + entry[kind], 0);
  return { turn, readUnits: sum('readUnits'), writeUnits: sum('writeUnits') };
}

async function rewriteItems(client: DynamoClient, few: number, many: number): Promise<Saving['documents']> {
  const rewritten = { few: (await rewriteItem(client, few))!, many: await rewriteItem(client, many) };
  if (rewritten.many) return rewritten;
  let [last, tooMany] = [rewritten.few, many];
  while (tooMany - last.turn > 1) {
    const turn = Math.floor((last.turn + tooMany) / 2);
    const written = await rewriteItem(client, turn);
    if (written) last = written;
    else tooMany = turn;
  }
  return { ...rewritten, last };
}

const turnOf = (): object[] => [
  { role: 'user', ...question },
  { role: 'assistant', content: 'Hello. No skills are enabled here yet.' }, // our rule's answer
];

// Undefined if the item would be too large.
async function rewriteItem(client: DynamoClient, turn: number): Promise<TurnUnits | undefined> {
  const billed = { TableName: tableName, ReturnConsumedCapacity: 'TOTAL' } as const;
  const Key = { pk: 'documented', sk: 'conversation' };
  const itemWith = (turns: number) => ({
    ...Key,
    messages: JSON.stringify(Array.from({ length: turns }, turnOf).flat()),
    updated_at: new Date().toISOString(),
    ttl: Math.floor(Date.now() / 1000) + 30 * 24 * 60 * 60,
  });
  try {
    await client.put({ ...billed, Item: itemWith(turn - 1) });
    const read = await client.get({ ...billed, Key });
    const written = await client.put({ ...billed, Item: itemWith(turn) });
    const unitsOf = ({ ConsumedCapacity }: typeof read) => ConsumedCapacity!.CapacityUnits!;
    return { turn, readUnits: unitsOf(read), writeUnits: unitsOf(written) };
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('Item size'))) throw error;
    return undefined;
  }
}
