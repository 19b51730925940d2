import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyMark,
  type Counts,
  countsAfter,
  insertMessage,
  isShown,
  type Mark,
  type Message,
} from './message.ts';

const nowS = 1_800_000_000;
const later = nowS + 3_600;

const anyMessage: fc.Arbitrary<Message> = fc
  .record({
    id: fc.integer({ min: 0, max: 40 }).map(number => `m${String(number).padStart(3, '0')}`),
    read: fc.boolean(),
    seen: fc.boolean(),
    archived: fc.boolean(),
    snoozed_until: fc.constantFrom(null, nowS - 60, later),
    category: fc.constantFrom(undefined, 'orders', 'news'),
  })
  .map(({ category, ...rest }) => ({
    host_system_id: null,
    sender: 'shop',
    audiences: { kind: 'users' },
    received: nowS,
    delivered: nowS,
    expiredat: later,
    readat: rest.read ? nowS : null,
    ...(category && { taxonomy: { category } }),
    message: { title: 'T', cta_uri: null },
    ...rest,
  }));
const anyMark: fc.Arbitrary<Mark> = fc.constantFrom<Mark[]>(
  { kind: 'read' },
  { kind: 'unread' },
  { kind: 'archive' },
  { kind: 'unarchive' },
  { kind: 'snooze', until: later },
  { kind: 'unsnooze' },
);
const uniqueMessages = fc.uniqueArray(anyMessage, { selector: one => one.id, minLength: 1 });

function countAll(messages: readonly Message[]): Counts {
  const shown = messages.filter(message => isShown(message, {}, nowS));
  const count = (list: Message[]) => ({
    total: list.length,
    unread: list.filter(one => !one.read).length,
    unseen: list.filter(one => !one.seen).length,
  });
  const names = ['orders', 'news'];
  const named = names.map(
    name => [name, count(shown.filter(one => one.taxonomy?.category === name))] as const,
  );
  return { ...count(shown), categories: Object.fromEntries(named) };
}

describe('marks before the server answers', () => {
  it('change the counts as recounting everything would', () => {
    fc.assert(
      fc.property(uniqueMessages, fc.array(anyMark), (messages, marks) => {
        let list = messages;
        let counts = countAll(list);
        for (const [step, mark] of marks.entries()) {
          const before = list[step % list.length]!;
          const after = applyMark(before, mark, nowS);
          counts = countsAfter(counts, before, after, nowS);
          list = list.map(one => (one === before ? after : one));
        }
        expect(counts).toEqual(countAll(list));
      }),
    );
  });
});

describe('a list', () => {
  it('has each message once, newest first, and only those that match its filter', () => {
    const filters = fc.constantFrom(
      {},
      { isRead: false },
      { view: 'archived' as const },
      { category: 'news' },
    );
    fc.assert(
      fc.property(fc.array(anyMessage), filters, (changes, filter) => {
        let list: Message[] = [];
        for (const change of changes) list = insertMessage(list, change, filter, nowS);
        const latest = new Map(changes.map(change => [change.id, change]));
        const expected = [...latest.values()].filter(one => isShown(one, filter, nowS));
        expect(list).toEqual(expected.sort((a, b) => (a.id < b.id ? 1 : -1)));
      }),
    );
  });

  it('leaves out expired messages', () => {
    const [message] = fc.sample(anyMessage, 1);
    expect(insertMessage([], { ...message!, expiredat: nowS }, {}, nowS)).toEqual([]);
  });
});
