import { createRecentMap, readTogether } from '@stak/kit';
import { type ItemOf, ref, type Store } from '@stak/table';
import { type InboxId, inboxText } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { type broadcast, broadcastsOfInbox, publicMessage, publicStats } from '../tables.ts';

export type Head = ItemOf<typeof publicStats> | undefined;
export type Broadcast = { seq: number; id: string; category?: string; expiredat: number };
export type PublicMessage = ItemOf<typeof publicMessage>;

// The messages to everyone up to a number, without redacted ones.
export type Broadcasts = {
  readonly list: string;
  readonly seq: number;
  readonly inOrder: readonly Broadcast[]; // by number
  readonly newestFirst: readonly Broadcast[]; // by id
  readonly byId: ReadonlyMap<string, Broadcast>;
};

export type BroadcastList = {
  // All messages up to the head. The list is append-only, so only entries after the last one read are fetched. The
  // head, which is read every time, shows whether there are any.
  upTo(inbox: InboxId, head: Head): Promise<Broadcasts>;
  // Includes categories that are being deleted, whose messages are hidden.
  all(inbox: InboxId, head: Head): Promise<Broadcasts>;
  // Texts never change, so each is fetched once. One that is missing was just removed.
  texts(inbox: InboxId, ids: readonly string[]): Promise<Map<string, PublicMessage>>;
};

const none: Broadcasts = listOf('', 0, []);

// Every user's feed and counts begin with it, so concurrent requests for an inbox share one read.
export const createHeadRead = (store: Store) =>
  readTogether(
    ({ tenant_key, inbox_key }: InboxId): Promise<Head> =>
      store.get(publicStats, { tenant_key, inbox_key }, { consistent: true, pattern: 'open a mailbox' }),
    inboxText,
  );

export function createBroadcastList({ store, now }: { store: Store; now(): number }): BroadcastList {
  const lists = createRecentMap<string, Broadcasts>(limits.cachedInboxes);
  const texts = createRecentMap<string, PublicMessage>(limits.cachedTexts);

  const all = async (inbox: InboxId, head: Head): Promise<Broadcasts> => {
    if (!head || head.seq === 0) return none;
    const key = inboxText(inbox);
    const cached = lists.get(key);
    const known = cached?.list === head.list ? cached : none;
    if (known.seq >= head.seq) return known;
    const range = { after: { seq: known.seq } };
    const lines: ItemOf<typeof broadcast>[] = [];
    for await (const line of store.all(broadcastsOfInbox, inbox, range)) lines.push(line);
    const current = follow(known, lines, head, Math.floor(now() / 1000));
    lists.set(key, current);
    return current;
  };

  return {
    all,
    upTo: async (inbox, head) => without(await all(inbox, head), head?.deleting ?? []),

    async texts(inbox, ids) {
      const found = new Map<string, PublicMessage>();
      const missing: string[] = [];
      for (const id of ids) {
        const text = texts.get(textKey(inbox, id));
        if (text) found.set(id, text);
        else missing.push(id);
      }
      if (missing.length === 0) return found;
      const refs = missing.map(id => ref(publicMessage, { ...inbox, id }));
      for (const text of await store.batchGet(refs, { consistent: true, pattern: 'texts of broadcasts' })) {
        if (!text) continue;
        found.set(text.id, text);
        if (JSON.stringify(text.message).length <= limits.cachedTextChars)
          texts.set(textKey(inbox, text.id), text);
      }
      return found;
    },
  };
}

const textKey = (inbox: InboxId, id: string): string => `${inboxText(inbox)}#${id}`;

function follow(
  known: Broadcasts,
  lines: readonly ItemOf<typeof broadcast>[],
  { list, seq }: NonNullable<Head>,
  nowS: number,
): Broadcasts {
  const redacted = new Set(lines.map(line => line.redacts));
  const published = lines.filter(line => line.redacts === undefined);
  const entries = [...known.inOrder, ...published].filter(
    one => !redacted.has(one.seq) && one.expiredat > nowS,
  );
  // Entries of expired messages may be gone, so the last entry read may be before the head's number.
  return listOf(list, Math.max(seq, lines.at(-1)?.seq ?? 0), entries);
}

const without = (list: Broadcasts, deleting: readonly string[]): Broadcasts =>
  deleting.length === 0
    ? list
    : listOf(
        list.list,
        list.seq,
        list.inOrder.filter(({ category }) => category === undefined || !deleting.includes(category)),
      );

function listOf(list: string, seq: number, entries: readonly Broadcast[]): Broadcasts {
  const inOrder = entries.map(({ seq, id, category, expiredat }) => ({ seq, id, category, expiredat }));
  return {
    list,
    seq,
    inOrder,
    newestFirst: inOrder.toSorted((a, b) => (a.id < b.id ? 1 : -1)),
    byId: new Map(inOrder.map(one => [one.id, one])),
  };
}
