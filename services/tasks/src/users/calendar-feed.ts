import { createHash, randomBytes } from 'node:crypto';
import { cutText, yieldToEventLoop } from '@stak/kit';
import { type ItemOf, type NamedStep, type Store, write } from '@stak/table';
import ical, { ICalEventTransparency } from 'ical-generator';
import { type CommitDeps, commit } from '../edit/commit.ts';
import { requireVersion } from '../edit/update.ts';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { tasksDueBetween } from '../lists/access-patterns.ts';
import { completeList, readQueries } from '../lists/list.ts';
import { addDays, todayIn, utcOf } from '../schedule/dates.ts';
import type { Task } from '../schema.ts';
import { currentTally } from '../sync/changes.ts';
import { feed, user } from '../tables.ts';
import { type DescribeOwner, newUser, readUser, settleEmail } from './profile.ts';

// A calendar with a secret address, because calendar programs cannot send a token. Only the hash of the secret is
// stored.

type FeedDeps = CommitDeps & { describeOwner?: DescribeOwner };

const secretBytes = 24;
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

export const feedNotFound = () => tasksErrors.create('tasks.feed_not_found', 'Calendar not found.');

// Replaces the address; the previous one stops working. Returns the version of the user.
export async function replaceFeed(
  deps: FeedDeps,
  user_id: string,
  made_by?: string,
  expected?: string,
): Promise<{ secret: string; version: number }> {
  const secret = randomBytes(secretBytes).toString('base64url');
  const made = { feed_hash: hashOf(secret), ...(made_by !== undefined && { made_by }) };
  return { secret, version: await changeFeed(deps, user_id, made, expected) };
}

export const revokeFeed = (
  deps: FeedDeps,
  user_id: string,
  expected?: string,
  onlyOf?: { made_by: string },
): Promise<number> => changeFeed(deps, user_id, undefined, expected, onlyOf);

function changeFeed(
  deps: FeedDeps,
  user_id: string,
  made: { feed_hash: string; made_by?: string } | undefined,
  expected: string | undefined,
  onlyOf?: { made_by: string },
): Promise<number> {
  return commit(deps, user_id, 'change calendar feed', async ({ nowS }) => {
    const found = await readUser(deps.store, user_id, true);
    const known = found ?? (await newUser(deps, user_id));
    const old = known.feed_hash;
    requireVersion(known.version, expected);
    if (made === undefined && old === undefined) throw feedNotFound();
    if (onlyOf && (await readMaker(deps.store, old)) !== onlyOf.made_by) throw feedNotFound();
    const settled = await settleEmail(deps.store, found?.email, { ...known, updated_at: nowS });
    const { version, feed_hash: _, ...after } = settled.after;
    const input = { ...after, ...(made && { feed_hash: made.feed_hash }) };
    const steps: NamedStep[] = [
      ['user', write.put(user, input, found ? { ifVersion: version } : { ifAbsent: true })],
      ...settled.steps,
    ];
    if (old !== undefined) steps.push(['old feed', write.delete(feed, { feed_hash: old })]);
    if (made)
      steps.push(['new feed', write.put(feed, { ...made, user_id, created_at: nowS }, { ifAbsent: true })]);
    return { answer: version + 1, steps };
  });
}

async function readMaker(store: Store, feed_hash: string | undefined): Promise<string | undefined> {
  if (feed_hash === undefined) return undefined;
  return (await store.get(feed, { feed_hash }, { consistent: true, pattern: 'calendar feed' }))?.made_by;
}

export async function findFeed(store: Store, secret: string): Promise<ItemOf<typeof feed>> {
  const found = await store.get(feed, { feed_hash: hashOf(secret) }, { pattern: 'calendar feed' });
  if (!found) throw feedNotFound();
  return found;
}

// Identifies the state of everything the calendar shows.
export async function feedVersion(deps: CommitDeps, user_id: string): Promise<string> {
  const { epoch, seq } = await currentTally(deps, user_id);
  return `${epoch}${seq}`;
}

export async function readFeed(deps: CommitDeps, user_id: string): Promise<string> {
  const { time_zone } = await currentTally(deps, user_id);
  const from = addDays(todayIn(time_zone, deps.clock.now()), -limits.feedPastDays);
  const reading = { store: deps.store, user_id };
  const filter = [{ kind: 'oneOf', attribute: 'status', values: ['cancelled'], not: true }] as const;
  const { items } = await readQueries(tasksDueBetween({ ...reading, filter }, { from }), limits.feedEvents);
  return writeCalendar(await completeList(reading, items, filter));
}

// A few tasks at a time, with other work in between: the library folds lines character by character, which takes it
// seconds for a thousand tasks with long descriptions.
async function writeCalendar(tasks: readonly Task[]): Promise<string> {
  const [begin, end] = ['BEGIN:VEVENT', 'END:VCALENDAR'];
  const due = tasks.filter(task => task.due_date !== undefined);
  let text = calendarText([]).slice(0, -end.length);
  for (let at = 0; at < due.length; at += limits.feedChunk) {
    const part = calendarText(due.slice(at, at + limits.feedChunk));
    text += part.slice(part.indexOf(begin), -end.length);
    await yieldToEventLoop();
  }
  return text + end;
}

// Shows tasks as all-day events, because hardly any calendar shows the to-dos of a feed.
function calendarText(tasks: readonly Task[]): string {
  const calendar = ical({ name: 'Tasks', prodId: { company: 'Stak', product: 'Tasks' } });
  for (const task of tasks) {
    calendar.createEvent({
      id: `${task.task_id}@stak`,
      start: new Date(utcOf(task.due_date!)),
      allDay: true,
      summary: task.status === 'completed' ? `✓ ${task.title}` : task.title,
      description: shorten(task.description),
      categories: [task.category ?? [], task.labels ?? []].flat().map(name => ({ name })),
      transparency: ICalEventTransparency.TRANSPARENT, // a task does not block the whole day
      sequence: task.version,
      created: new Date(task.created_at * 1000),
      lastModified: new Date(task.updated_at * 1000),
      stamp: new Date(task.updated_at * 1000),
      repeating: repetitionOf(task),
    });
  }
  return calendar.toString();
}

const shorten = (text = ''): string | null =>
  text.length > limits.feedDescriptionChars ? `${cutText(text, limits.feedDescriptionChars)}…` : text || null;

// COUNT counts from the start of a series. A calendar that sees only a later task would count from there and show too
// many, so that task is shown without its rule.
function repetitionOf({ recurrence, due_date, series_start }: Task): string | null {
  if (recurrence === undefined) return null;
  const isMiscounted = due_date !== series_start && recurrence.includes('COUNT=');
  return isMiscounted ? null : `RRULE:${recurrence}`;
}
