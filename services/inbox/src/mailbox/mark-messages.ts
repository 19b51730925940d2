import { type NamedStep, ref, write } from '@stak/table';
import type { Deps } from '../deps.ts';
import { inboxErrors } from '../errors.ts';
import type { MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { expiry, receipt, userMessage } from '../tables.ts';
import type { Broadcast } from './broadcast-list.ts';
import { changeMailbox, type Decision, isHidden, type Mailbox } from './mailbox.ts';
import {
  broadcastFlags,
  countMessage,
  type Flags,
  flagsOf,
  isVisible,
  markBroadcasts,
  markOf,
  readAt,
  type Snooze,
  type UserMessage,
} from './state.ts';

export type Mark =
  | { kind: 'read' | 'unread' | 'seen' | 'archive' | 'unarchive' | 'unsnooze' }
  | { kind: 'snooze'; until: number };

export type Marked = { changed: number; missing: string[] };

// Marks messages one by one: the user's own, and those to everyone. Idempotent. A long list is marked in parts, each in
// one transaction.
export async function markMessages(
  deps: Deps,
  user: MailboxId,
  ids: readonly string[],
  mark: Mark,
): Promise<Marked> {
  const marked: Marked = { changed: 0, missing: [] };
  const wanted = [...new Set(ids)];
  for (let i = 0; i < wanted.length; i += limits.marksTogether) {
    const part = wanted.slice(i, i + limits.marksTogether);
    const { changed, missing } = await changeMailbox(deps, user, `mark ${mark.kind}`, mailbox =>
      decideMarks(deps, mailbox, part, mark),
    );
    marked.changed += changed;
    marked.missing.push(...missing);
  }
  return marked;
}

async function decideMarks(
  { store }: Deps,
  mailbox: Mailbox,
  ids: readonly string[],
  mark: Mark,
): Promise<Decision<Marked>> {
  const { user, nowMs } = mailbox;
  const toEveryone = ids.flatMap(id => mailbox.broadcasts.byId.get(id) ?? []);
  const others = ids.filter(id => !mailbox.broadcasts.byId.has(id));
  const found = others.length
    ? await store.batchGet(
        others.map(id => ref(userMessage, { ...user, id })),
        { consistent: true, pattern: 'messages to mark' },
      )
    : [];
  const own = found.flatMap(one => (one && !isHidden(mailbox, one.taxonomy?.category) ? [one] : []));
  const visible = toEveryone.filter(one => isVisible(mailbox.state, one, nowMs));
  const present = new Set([...own, ...visible].map(one => one.id));

  let state = mailbox.state;
  const steps: NamedStep[] = [];
  const numbers = new Map<number, Flags>();
  let changed = 0;
  for (const message of own) {
    const before = flagsOf(state, markOf(message));
    const after = flagsAfter(before, mark);
    if (isSame(before, after) && mark.kind !== 'snooze') continue;
    const { category } = message.taxonomy ?? {};
    const counts = countMessage(countMessage(state.counts, category, before, -1), category, after, 1);
    steps.push(...ownSteps(mailbox, message, after));
    changed += 1;
    state = { ...state, counts, snoozed: snoozedAfter(state.snoozed, message, category, mark, after) };
  }
  const flagsBefore = broadcastFlags(mailbox.state);
  for (const one of visible) {
    const before = flagsBefore(one);
    const after = flagsAfter(before, mark);
    if (isSame(before, after) && mark.kind !== 'snooze') continue;
    numbers.set(one.seq, after);
    steps.push(...receiptSteps(mailbox, one, before, after));
    state = { ...state, snoozed: snoozedAfter(state.snoozed, one, one.category, mark, after) };
  }
  const result = {
    changed: changed + numbers.size,
    missing: ids.filter(id => !present.has(id)),
  };
  if (result.changed === 0) return { result };
  if (numbers.size > 0) state = markBroadcasts(state, mailbox.broadcasts, numbers, nowMs);
  if (mark.kind === 'snooze') state = { ...state, snoozed: checkSnoozed(mailbox, state.snoozed) };
  return { result, state, steps };
}

// Any mark means that the user has seen the message, and most end a snooze.
function flagsAfter(before: Flags, mark: Mark): Flags {
  switch (mark.kind) {
    case 'read':
      return { ...before, read: true, seen: true, snoozed: false };
    case 'unread':
      return { ...before, read: false, seen: true, snoozed: false };
    case 'seen':
      return { ...before, seen: true };
    case 'archive':
      return { ...before, seen: true, archived: true, snoozed: false };
    case 'unarchive':
      return { ...before, seen: true, archived: false };
    case 'unsnooze':
      return { ...before, snoozed: false };
    case 'snooze':
      return { read: false, seen: true, archived: false, snoozed: true };
  }
}

const isSame = (a: Flags, b: Flags): boolean =>
  a.read === b.read && a.seen === b.seen && a.archived === b.archived && a.snoozed === b.snoozed;

// The message and its expiry get all their flags, so that earlier ranges no longer apply to them.
function ownSteps({ user, state, nowMs }: Mailbox, message: UserMessage, after: Flags): NamedStep[] {
  const { id, expiredat } = message;
  const nowS = Math.floor(nowMs / 1000);
  const touched = state.version + 1;
  const { read, seen, archived } = after;
  const set = {
    touched,
    readat: read ? (readAt(state, message) ?? nowS) : null,
    seenat: seen ? (message.seenat ?? nowS) : null,
    archivedat: archived ? (message.archivedat ?? nowS) : null,
  };
  return [
    [
      `message ${id}`,
      write.update(userMessage, { ...user, id }, { set }, { if: { touched: message.touched } }),
    ],
    [
      `expiry of ${id}`,
      write.update(expiry, { ...user, id, expires: expiredat }, { set: { touched, read, seen, archived } }),
    ],
  ];
}

function receiptSteps({ user, nowMs }: Mailbox, one: Broadcast, before: Flags, after: Flags): NamedStep[] {
  if (before.read === after.read) return [];
  const { id, expiredat, category } = one;
  const taxonomy = category === undefined ? undefined : { category };
  const readat = Math.floor(nowMs / 1000);
  const step = after.read
    ? write.put(receipt, { ...user, id, readat, expiredat, taxonomy })
    : write.delete(receipt, { ...user, id });
  return [[`receipt ${id}`, step]];
}

function snoozedAfter(
  snoozed: readonly Snooze[],
  one: { id: string; expiredat: number; seq?: number },
  category: string | undefined,
  mark: Mark,
  after: Flags,
): Snooze[] {
  const others = snoozed.filter(other => other.id !== one.id);
  if (!after.snoozed || mark.kind !== 'snooze') return after.snoozed ? [...snoozed] : others;
  const { id, expiredat, seq } = one;
  if (mark.until >= expiredat)
    throw inboxErrors.create('inbox.snooze_invalid', 'The message expires before `until`.');
  return [...others, { id, until: mark.until, expiredat, category, seq }];
}

function checkSnoozed({ broadcasts }: Mailbox, snoozed: readonly Snooze[]): Snooze[] {
  const present = snoozed.filter(one => one.seq === undefined || broadcasts.byId.has(one.id));
  if (present.length > limits.snoozed)
    throw inboxErrors.create(
      'inbox.too_many_snoozed',
      `A user can snooze at most ${limits.snoozed} messages at a time.`,
    );
  return present;
}
