import type { ServerEvent } from '@stak/http';
import { countAll, nextChange } from './counts.ts';
import type { Service } from './deps.ts';
import { showOwn, showPublic } from './feed.ts';
import * as limits from './limits.ts';
import { isHidden, type Mailbox, openMailbox } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import { broadcastsOfInbox, messagesOfUser } from './table.ts';
import { broadcastFlags, flagsOf, isVisible, markOf } from './user-state.ts';

// How far a listener has got: own messages ever, own messages ever redacted, and the number of the last line to
// everyone. It is the id of every event, so a listener that comes back goes on where it was, in any process.
export type Position = { added: number; withdrawn: number; seq: number };

const idShape = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/;

export const writePosition = ({ added, withdrawn, seq }: Position): string => `${added}.${withdrawn}.${seq}`;

export function readPosition(id: string): Position | undefined {
  const match = idShape.exec(id);
  return match ? { added: Number(match[1]), withdrawn: Number(match[2]), seq: Number(match[3]) } : undefined;
}

const positionOf = ({ state, broadcasts }: Mailbox): Position => ({
  added: state.added,
  withdrawn: state.withdrawn,
  seq: broadcasts.seq,
});

type Sink = { send(event: ServerEvent): void; ready(): Promise<void>; signal: AbortSignal };

// Tells what is new since the position, then whatever comes. Being woken too often, or twice for one change, costs
// a read and sends nothing.
export async function follow(
  service: Service,
  user: UserPlace,
  afterId: string | undefined,
  sink: Sink,
): Promise<void> {
  const { bell, close } = service.hub.listen(user);
  try {
    let position = afterId === undefined ? undefined : readPosition(afterId);
    let isFirst = true;
    let counts = '';
    while (!sink.signal.aborted) {
      const box = await openMailbox(service, user);
      const now = positionOf(box);
      const events = position
        ? await eventsSince(service, box, position)
        : afterId !== undefined && isFirst
          ? [reset]
          : [];
      // Only the last of them says that the listener is there: whoever is cut off before it gets all of them again.
      for (const [i, event] of events.entries())
        sink.send({ ...event, id: writePosition(i < events.length - 1 && position ? position : now) });
      const current = JSON.stringify(countAll(box));
      if (current !== counts)
        sink.send({ id: writePosition(now), event: 'counts', data: JSON.parse(current) });
      counts = current;
      position = now;
      isFirst = false;
      await sink.ready();
      await bell.wait(Math.max(0, restMs(service, box)), sink.signal);
    }
  } finally {
    close();
  }
}

const reset: ServerEvent = { event: 'reset', data: { reason: 'Read the list again.' } };

// Until there is something new, or the counts change by themselves.
function restMs({ clock }: Service, box: Mailbox): number {
  const changeMs = nextChange(box);
  return changeMs === undefined ? limits.recheckMs : Math.min(limits.recheckMs, changeMs - clock.now());
}

async function eventsSince(service: Service, box: Mailbox, since: Position): Promise<ServerEvent[]> {
  const { state, broadcasts } = box;
  if (state.added < since.added || broadcasts.seq < since.seq) return [reset]; // the inbox was erased since
  const own = state.added === since.added ? [] : await ownSince(service, box, since.added);
  const withdrawn = withdrawnSince(box, since.withdrawn);
  if (!own || !withdrawn) return [reset];
  const toEveryone = broadcasts.seq === since.seq ? [] : await broadcastsSince(service, box, since.seq);
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

// Own messages after an ordinal, oldest first. Most are the newest ones; undefined if some are not to be found near,
// because they came late or have gone again.
async function ownSince(service: Service, box: Mailbox, added: number): Promise<ServerEvent[] | undefined> {
  const wanted = box.state.added - added;
  if (wanted > limits.resumedMessages) return undefined;
  const { items } = await service.store.query(messagesOfUser, box.user, {
    limit: wanted + limits.resumedMessages,
  });
  const found = items
    .flatMap(({ entity, item }) => (entity === 'user message' && item.ordinal > added ? [item] : []))
    .slice(0, wanted);
  if (found.length < wanted) return undefined;
  if (found.reduce((sum, one) => sum + (one.body_bytes ?? 0), 0) > limits.pageBodyBytes) return undefined;
  const messages = await service.sharedBodies.complete(box.user, found);
  return found
    .toReversed()
    .flatMap(({ id }) => messages.get(id) ?? [])
    .filter(({ taxonomy }) => !isHidden(box, taxonomy?.category))
    .map(item => ({ event: 'message', data: showOwn(box, item, flagsOf(box.state, markOf(item))) }));
}

async function broadcastsSince(
  service: Service,
  box: Mailbox,
  seq: number,
): Promise<ServerEvent[] | undefined> {
  const { user, state, broadcasts, nowMs } = box;
  const events: ServerEvent[] = [];
  const fresh: string[] = [];
  for await (const line of service.store.all(broadcastsOfInbox, user, { after: { seq } })) {
    if (line.hides) return undefined; // it names no messages
    if (line.redacts === undefined) fresh.push(line.id);
    else if (line.redacts > state.joined) events.push({ event: 'redaction', data: { id: line.id } });
  }
  const flagsOfPublic = broadcastFlags(state);
  const visible = fresh
    .flatMap(id => broadcasts.byId.get(id) ?? [])
    .filter(one => isVisible(state, one, nowMs));
  if (visible.length > limits.resumedMessages) return undefined;
  const texts = await service.broadcasts.texts(
    user,
    visible.map(one => one.id),
  );
  for (const one of visible) {
    const text = texts.get(one.id);
    if (text) events.push({ event: 'message', data: showPublic(box, text, flagsOfPublic(one), undefined) });
  }
  return events;
}
