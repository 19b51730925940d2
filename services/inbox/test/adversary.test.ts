import { createLogger, seededRandom } from '@stak/kit';
import { toLambda } from '@stak/streams';
import { createStore } from '@stak/table';
import { describe, expect, it } from 'vitest';
import type { Inbox } from '../src/index.ts';
import { findSend } from '../src/publish/send-records.ts';
import { member, memberTotal } from '../src/tables.ts';
import type { StreamRecords } from './oracle/backend.ts';
import { openFixture } from './oracle/fixture.ts';

// Two processes on a store that often loses answers. Users read messages of their own and to everyone at the same time,
// pages of the stream come again, in part or whole, and both processes handle the same page. At the end every count is
// made again from what users see. STAK_ADVERSARY_SEED gives another history.

const given = Number(process.env.STAK_ADVERSARY_SEED);
const seeds = Number.isInteger(given) && given > 0 ? [given] : [1, 2];

const users = ['u0', 'u1', 'u2', 'u3', 'u4'];
const rounds = 5;
const origin = { sender: 'usr_1' };
const inbox = { archived: false, snoozed: false }; // what a user sees at first
const log = createLogger({ level: 'silent' });

// What is refused for a moment is sent again, as a client does.
async function again<Output>(attempt: () => Promise<Output>): Promise<Output> {
  for (let left = 20; ; left--)
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
    }
}

async function handle({ subscriptions }: Inbox, Records: StreamRecords): Promise<void> {
  for (const subscription of subscriptions) {
    if (subscription.needsConsumer) continue;
    // Lambda sends a record that failed again, and all after it.
    for (let rest = Records, left = 20; rest.length > 0; left--) {
      const { batchItemFailures } = await toLambda(subscription, { log })({ Records: rest });
      const failed = new Set(batchItemFailures.map(failure => failure.itemIdentifier));
      const first = rest.findIndex(({ dynamodb }) => failed.has(dynamodb?.SequenceNumber ?? ''));
      if (first === -1) break;
      if (left === 0) throw new Error(`${subscription.name} failed`);
      rest = rest.slice(first);
    }
  }
}

describe('readers, on a store that fails', () => {
  it.each(seeds)('are counted once each, whatever is repeated, seed %i', { timeout: 120_000 }, async seed => {
    const random = seededRandom(seed);
    const below = (most: number) => Math.floor(random() * most);
    const faults = { lostAnswers: 0.15, random: seededRandom(seed + 1) };
    const fixture = await openFixture({ engine: 'adversary', policy: 'all', recipientsTogether: 18, faults });
    const { inboxId, processes } = fixture;
    let calls = 0;
    const operations = () => processes[calls++ % 2]!.operations;
    const mailbox = (uid: string) => ({ ...inboxId, uid });
    for (const uid of users) await again(() => operations().join(mailbox(uid)));

    const sends: { id: string; isToAll: boolean }[] = [];
    const publish = async (n: number, isToAll: boolean) => {
      const draft = {
        message: { title: `message ${n}`, body: 'text' },
        host_system_id: `host ${n}`,
        ttl: '1d',
      };
      const { send } = await again(() =>
        isToAll
          ? operations().broadcast(inboxId, draft, origin)
          : operations().publish(inboxId, { ...draft, uids: users }, origin),
      );
      sends.push({ id: send.id, isToAll });
    };
    // As each user last marked each message; each user does one thing after the other.
    const isRead = new Map<string, boolean>();
    const act = async (uid: string) => {
      for (let left = 1 + below(3); left > 0; left--) {
        const how = random();
        if (how < 0.2) {
          await again(() => operations().markAll(mailbox(uid), { as: 'read' }));
          for (const { id } of sends) isRead.set(`${uid} ${id}`, true);
          continue;
        }
        const ids = [...new Set([sends[below(sends.length)]!.id, sends[below(sends.length)]!.id])];
        const kind = how < 0.75 ? 'read' : 'unread';
        await again(() => operations().mark(mailbox(uid), ids, { kind }));
        for (const id of ids) isRead.set(`${uid} ${id}`, kind === 'read');
      }
    };

    let before: StreamRecords = [];
    const follow = async () => {
      const records = await fixture.readRecords();
      // Some of the page before comes again, and another process handles the same page.
      const page = [...before.slice(below(before.length + 1)), ...records];
      await Promise.all(processes.map(one => handle(one, page)));
      before = records;
      return records.length;
    };

    for (let round = 0; round < rounds; round++) {
      await publish(2 * round, false);
      await publish(2 * round + 1, true);
      await Promise.all(users.map(act));
      fixture.advance(1000);
      await follow();
    }
    for (let left = 20; (await follow()) > 0; left--) expect(left).toBeGreaterThan(0);

    // Counted again: what users see is what they did, and every stored number says the same.
    const store = createStore({ client: fixture.client, clock: fixture.clock });
    for (const uid of users) {
      const { items } = await operations().feed(mailbox(uid), inbox, { limit: 50 });
      expect(items).toHaveLength(sends.length);
      for (const { id, read } of items)
        expect([uid, id, read]).toEqual([uid, id, isRead.get(`${uid} ${id}`) ?? false]);
      const unread = items.filter(({ read }) => !read).length;
      expect(await operations().counts(mailbox(uid))).toMatchObject({ total: items.length, unread });
    }
    for (const { id } of sends) {
      const readers = users.filter(uid => isRead.get(`${uid} ${id}`)).length;
      const found = await findSend({ store }, inboxId, id);
      expect([id, found?.read]).toEqual([id, readers]);
    }
    const members = await fixture.client.query({
      TableName: member.table.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': `t#${inboxId.tenant_key}R#${inboxId.inbox_key}` },
    });
    const total = await store.get(memberTotal, inboxId, { consistent: true });
    expect([total?.users, members.Count]).toEqual([users.length, users.length + 1]); // the total is among them
    const { lostAnswers, conflicts } = fixture.counts();
    expect([lostAnswers, conflicts]).not.toContain(0);
    await fixture.close();
  });
});
