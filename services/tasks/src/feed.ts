import { createHash, randomBytes } from 'node:crypto';
import { type Store, write } from '@stak/table';
import { addDays, todayIn } from './calendar.ts';
import { calendarText } from './calendar-file.ts';
import { settledTally } from './changes.ts';
import { commit, type Writing } from './commit.ts';
import { requireVersion } from './edit.ts';
import { tasksErrors } from './errors.ts';
import * as limits from './limits.ts';
import { completeList, readLegs } from './list.ts';
import { tasksDueBetween } from './patterns.ts';
import { type DescribeOwner, newUser, readUser, settleEmail } from './profile.ts';
import type { NamedSteps } from './shift.ts';
import { feed, user } from './table.ts';

// A calendar with a secret address, which is all that calendar programs know how to send. Only its hash is kept.

type Feeds = Writing & { describeOwner?: DescribeOwner };

const secretBytes = 24;
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export const feedNotFound = () => tasksErrors.create('tasks.feed_not_found', 'There is no such calendar.');

// A new address; the one before, if any, is worth nothing from then on. The version is the user's.
export async function replaceFeed(
  deps: Feeds,
  user_id: string,
  expected?: string,
): Promise<{ secret: string; version: number }> {
  const secret = randomBytes(secretBytes).toString('base64url');
  return { secret, version: await changeFeed(deps, user_id, hashOf(secret), expected) };
}

export const revokeFeed = (deps: Feeds, user_id: string, expected?: string): Promise<number> =>
  changeFeed(deps, user_id, undefined, expected);

function changeFeed(
  deps: Feeds,
  user_id: string,
  feed_hash: string | undefined,
  expected: string | undefined,
): Promise<number> {
  return commit(deps, user_id, 'change calendar feed', async ({ nowS }) => {
    const found = await readUser(deps.store, user_id, true);
    const known = found ?? (await newUser(deps, user_id));
    const old = known.feed_hash;
    requireVersion(known.version, expected);
    if (feed_hash === undefined && old === undefined) throw feedNotFound();
    const settled = await settleEmail(deps.store, found?.email, { ...known, updated_at: nowS });
    const { version, feed_hash: _, ...after } = settled.after;
    const input = { ...after, ...(feed_hash !== undefined && { feed_hash }) };
    const steps: NamedSteps = [
      ['user', write.put(user, input, found ? { ifVersion: version } : { ifAbsent: true })],
      ...settled.steps,
    ];
    if (old !== undefined) steps.push(['old feed', write.delete(feed, { feed_hash: old })]);
    if (feed_hash !== undefined)
      steps.push(['new feed', write.put(feed, { feed_hash, user_id, created_at: nowS }, { ifAbsent: true })]);
    return { answer: version + 1, steps };
  });
}

export async function findFeed(store: Store, secret: string): Promise<string> {
  const found = await store.get(feed, { feed_hash: hashOf(secret) }, { pattern: 'calendar feed' });
  if (!found) throw feedNotFound();
  return found.user_id;
}

// Names the state of everything the calendar shows.
export async function feedVersion(deps: Writing, user_id: string): Promise<string> {
  const { epoch, seq } = await settledTally(deps, user_id);
  return `${epoch}${seq}`;
}

export async function readFeed(deps: Writing, user_id: string): Promise<string> {
  const { time_zone } = await settledTally(deps, user_id);
  const from = addDays(todayIn(time_zone, deps.clock.now()), -limits.feedPastDays);
  const reading = { store: deps.store, user_id };
  const filter = [{ kind: 'oneOf', attribute: 'status', values: ['cancelled'], not: true }] as const;
  const { items } = await readLegs(tasksDueBetween({ ...reading, filter }, { from }), limits.feedEvents);
  return calendarText(await completeList(reading, items, filter));
}
