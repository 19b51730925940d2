import type { ServerEvent } from '@stak/http';
import type { Deps } from '../deps.ts';
import { inboxText, type MailboxId, mailboxText } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { broadcastsOfInbox, messagesOfUser } from '../tables.ts';
import { countAll, isHidden, type Mailbox, nextChange, openMailbox } from './mailbox.ts';
import { showOwn, showPublic } from './messages.ts';
import { broadcastFlags, flagsOf, isVisible, markOf } from './state.ts';

// How far a client has read: how many messages the user ever got, how many of them were redacted, and the number of the
// last broadcast entry. It is the id of every event, so a client that reconnects continues there, in any process.
type Position = { added: number; withdrawn: number; seq: number };

const idShape = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/;

const writePosition = ({ added, withdrawn, seq }: Position): string => `${added}.${withdrawn}.${seq}`;

function readPosition(id: string): Position | undefined {
  const match = idShape.exec(id);
  return match ? { added: Number(match[1]), withdrawn: Number(match[2]), seq: Number(match[3]) } : undefined;
}

const positionOf = ({ state, broadcasts }: Mailbox): Position => ({
  added: state.added,
  withdrawn: state.withdrawn,
  seq: broadcasts.seq,
});

type Sink = { send(event: ServerEvent): void; ready(): Promise<void>; signal: AbortSignal };

// Sends what is new since the position, then each change as it happens. Being woken too often, or twice for one change,
// costs a read and sends nothing.
export async function followMailbox(
  deps: Deps,
  user: MailboxId,
  afterId: string | undefined,
  sink: Sink,
): Promise<void> {
  const subscriber = deps.hub.subscribe([mailboxText(user), inboxText(user)]);
  try {
    let position = afterId === undefined ? undefined : readPosition(afterId);
    let isFirst = true;
    let counts = '';
    while (!sink.signal.aborted) {
      const mailbox = await openMailbox(deps, user);
      const now = positionOf(mailbox);
      const events = position
        ? await eventsSince(deps, mailbox, position)
        : afterId !== undefined && isFirst
          ? [reset]
          : [];
      // Only the last event carries the new position: a client that is cut off before it gets all of them again.
      for (const [i, event] of events.entries())
        sink.send({ ...event, id: writePosition(i < events.length - 1 && position ? position : now) });
      const current = JSON.stringify(countAll(mailbox));
      if (current !== counts)
        sink.send({ id: writePosition(now), event: 'counts', data: JSON.parse(current) });
      counts = current;
      position = now;
      isFirst = false;
      await sink.ready();
      await subscriber.wait(Math.max(0, restMs(deps, mailbox)), sink.signal);
    }
  } finally {
    subscriber.close();
  }
}

const reset: ServerEvent = { event: 'reset', data: { reason: 'Read the list again.' } };

// Until the counts change without a write, or the next look.
function restMs({ clock }: Deps, mailbox: Mailbox): number {
  const changeMs = nextChange(mailbox);
  return changeMs === undefined ? limits.recheckMs : Math.min(limits.recheckMs, changeMs - clock.now());
}

async function eventsSince(deps: Deps, mailbox: Mailbox, since: Position): Promise<ServerEvent[]> {
  const { state, broadcasts } = mailbox;
  if (state.added < since.added || broadcasts.seq < since.seq) return [reset]; // the inbox was erased since
  const own = state.added === since.added ? [] : await ownSince(deps, mailbox, since.added);
  const withdrawn = withdrawnSince(mailbox, since.withdrawn);
  if (!own || !withdrawn) return [reset];
  const toEveryone = broadcasts.seq === since.seq ? [] : await broadcastsSince(deps, mailbox, since.seq);
  if (!toEveryone) return [reset];
  return [...toEveryone, ...own, ...withdrawn];
}

function withdrawnSince({ state }: Mailbox, withdrawn: number): ServerEvent[] | undefined {
  const wanted = state.withdrawn - withdrawn;
  if (wanted < 0 || wanted > state.withdrawn_ids.length) return undefined;
  return state.withdrawn_ids
    .slice(state.withdrawn_ids.length - wanted)
    .map(id => ({ event: 'redaction', data: { id } }));
}

// The user's own messages after an ordinal, oldest first. Usually they are the newest ones. Undefined if some are not
// among those, because they arrived late or are gone.
async function ownSince(deps: Deps, mailbox: Mailbox, added: number): Promise<ServerEvent[] | undefined> {
  const wanted = mailbox.state.added - added;
  if (wanted > limits.resumedMessages) return undefined;
  const { items } = await deps.store.query(messagesOfUser, mailbox.user, {
    limit: wanted + limits.resumedMessages,
  });
  const found = items
    .flatMap(({ entity, item }) => (entity === 'user message' && item.ordinal > added ? [item] : []))
    .slice(0, wanted);
  if (found.length < wanted) return undefined;
  if (found.reduce((sum, one) => sum + (one.body_bytes ?? 0), 0) > limits.pageBodyBytes) return undefined;
  const messages = await deps.sharedBodies.complete(mailbox.user, found);
  return found
    .toReversed()
    .flatMap(({ id }) => messages.get(id) ?? [])
    .filter(({ taxonomy }) => !isHidden(mailbox, taxonomy?.category))
    .map(item => ({ event: 'message', data: showOwn(mailbox, item, flagsOf(mailbox.state, markOf(item))) }));
}

async function broadcastsSince(
  deps: Deps,
  mailbox: Mailbox,
  seq: number,
): Promise<ServerEvent[] | undefined> {
  const { user, state, broadcasts, nowMs } = mailbox;
  const events: ServerEvent[] = [];
  const fresh: string[] = [];
  for await (const line of deps.store.all(broadcastsOfInbox, user, { after: { seq } })) {
    if (line.hides) return undefined; // it does not name its messages
    if (line.redacts === undefined) fresh.push(line.id);
    else if (line.redacts > state.joined) events.push({ event: 'redaction', data: { id: line.id } });
  }
  const flagsOfPublic = broadcastFlags(state);
  const visible = fresh
    .flatMap(id => broadcasts.byId.get(id) ?? [])
    .filter(one => isVisible(state, one, nowMs));
  if (visible.length > limits.resumedMessages) return undefined;
  const texts = await deps.broadcasts.texts(
    user,
    visible.map(one => one.id),
  );
  for (const one of visible) {
    const text = texts.get(one.id);
    if (text)
      events.push({ event: 'message', data: showPublic(mailbox, text, flagsOfPublic(one), undefined) });
  }
  return events;
}
