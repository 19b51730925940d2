import { createIds, systemClock } from '@stak/kit';
import type { Contestant } from '../contestant.ts';
import { withText, writeCopies } from '../copies.ts';
import {
  draft,
  everything,
  inboxId,
  type OpenInbox,
  openInbox,
  origin,
  ownMessages,
  publicMessages,
  stateKey,
  tableName,
  userOf,
} from './inbox.ts';
import type { ReadingSettings } from './reading.ts';

// Two users of one inbox, one with a long history and one with a short one. The newest messages of both are the same
// mixture of their own and broadcast ones.

const page = 30;

export async function start({ short, long, broadcasts }: ReadingSettings): Promise<Contestant> {
  const inbox = await openInbox(':memory:');
  const { client, publish, broadcast, feed, counts } = inbox;
  await addHistory(inbox, 'long', long - short);
  for (let i = 0; i < short; i++) {
    await publish(inboxId, { ...draft(), uids: ['long', 'short'] }, origin);
    if (i % Math.ceil(short / broadcasts) === 0) await broadcast(inboxId, draft(), origin);
  }

  const full = (count: number | undefined) => {
    if (count !== page) throw new Error(`a page of ${count} messages`);
  };
  const readFeed = (uid: string) => async () =>
    full((await feed(userOf(uid), everything, { limit: page })).items.length);
  const readCounts = (uid: string, own: number) => async () => {
    const { total } = await counts(userOf(uid));
    if (total < own) throw new Error(`${total} messages instead of ${own} and those to everyone`);
  };
  return {
    operations: {
      'two queries': async () => {
        full((await client.query(ownMessages('short')(page))).Items?.length);
        full((await client.query(publicMessages(page))).Items?.length);
      },
      'feed, short': readFeed('short'),
      'feed, long': readFeed('long'),
      'a get': async () => {
        const { Item } = await client.get({
          TableName: tableName,
          Key: stateKey('short'),
          ConsistentRead: true,
        });
        if (!Item) throw new Error('there is no state');
      },
      'counts, short': readCounts('short', short),
      'counts, long': readCounts('long', long),
    },
    close: inbox.close,
  };
}

// One message, and as many copies as are needed for `messages`.
async function addHistory({ client, publish }: OpenInbox, uid: string, messages: number): Promise<void> {
  const { send } = await publish(inboxId, { ...draft(), uids: [uid] }, origin);
  const [message] = (await client.query(ownMessages(uid)(1))).Items!;
  const expires = { ...stateKey(uid), sk: `x#${send.expiredat}#${send.id}` };
  const { Item: expiry } = await client.get({ TableName: tableName, Key: expires });
  const { Item: state } = await client.get({ TableName: tableName, Key: stateKey(uid) });
  const ids = createIds({ clock: systemClock });
  function* copies() {
    for (let i = 1; i < messages; i++) {
      const id = ids.next();
      for (const item of [message!, expiry!]) yield withText(item, send.id, id);
    }
  }
  await writeCopies(client, tableName, copies());
  const counts = { billing: [messages, messages, messages] };
  const counted = { ...state!, published: messages, added: messages, counts };
  await client.put({ TableName: tableName, Item: counted });
}
