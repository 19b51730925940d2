import { write } from '@stak/table';
import type { Service } from './deps.ts';
import { changeMailbox, openMailbox, type Step } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import { isLostRace } from './race.ts';
import { expiry, messagesOfUser, userMessage } from './table.ts';
import { type MarkedRange, markOf, rangesOver, type UserMessage, type UserState } from './user-state.ts';

// Writes a range to the messages it goes over, and then drops it. Nothing changes for the user: each message gets
// the marks it has already, on the condition that nobody has marked it since. So it can be done at any time, broken
// off, and done again; and the readers of the document's `readat` see it.
export async function writeRange(service: Service, user: UserPlace, range: MarkedRange): Promise<void> {
  const { state } = await openMailbox(service, user);
  if (!has(state, range)) return;
  const bounds = {
    ...(range.from !== undefined && { from: { id: range.from } }),
    ...(range.before !== undefined && { before: { id: range.before } }),
  };
  for await (const { entity, item } of service.store.all(messagesOfUser, user, bounds)) {
    if (entity !== 'user message') continue;
    await writeMarks(service, user, state, item, range);
  }
  // An open mailbox is settled: what expired while we were at it is no longer counted, with the range's help.
  await changeMailbox(service, user, 'drop a range', async box => ({
    result: undefined,
    state: { ...box.state, ranges: box.state.ranges.filter(one => one.version !== range.version) },
  }));
}

const has = (state: UserState, range: MarkedRange): boolean =>
  state.ranges.some(one => one.version === range.version);

async function writeMarks(
  { store }: Service,
  user: UserPlace,
  state: UserState,
  found: UserMessage,
  range: MarkedRange,
): Promise<void> {
  let message: UserMessage | undefined = found;
  while (message) {
    // All up to this range: they say nothing about a message that is marked as of it. Later ones still do.
    const over = rangesOver(state, markOf(message)).filter(one => one.version <= range.version);
    if (over.at(-1)?.version !== range.version) return;
    try {
      return await store.transact(markSteps(user, message, over), { pattern: 'write a range' });
    } catch (error) {
      if (!isLostRace(error)) throw error;
      message = await store.get(userMessage, { ...user, id: message.id }, { consistent: true });
    }
  }
}

function markSteps(user: UserPlace, message: UserMessage, over: readonly MarkedRange[]): Step[] {
  const { id, expiredat, touched: before } = message;
  const { version: touched, at } = over.at(-1)!;
  const readat = message.readat ?? over.find(one => !one.only_seen)?.at ?? null;
  const set = { touched, readat, seenat: message.seenat ?? at };
  const marks = { touched, read: readat !== null, seen: true };
  return [
    ['message', write.update(userMessage, { ...user, id }, { set }, { if: { touched: before } })],
    ['expiry', write.update(expiry, { ...user, id, expires: expiredat }, { set: marks })],
  ];
}
