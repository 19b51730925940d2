import { done, type ItemOf, type NamedStep, write } from '@stak/table';
import { type Deps, retry, secondsNow } from '../deps.ts';
import { categoryBeingDeleted, categoryNotFound, inboxErrors } from '../errors.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { readInbox } from '../settings.ts';
import { inboxCategories } from '../tables.ts';
import { walkSends } from './send-records.ts';

// The categories of an inbox that have or may have messages. Their number is limited here, so that the stats of a user
// cannot grow without bound.

type Until = Readonly<Record<string, number>>;

// A category is registered from its first message until its last has expired. The time is written ahead by a sixteenth
// of the message's lifetime, so that not every message has to write it.
export async function registerCategory(
  deps: Deps,
  inbox: InboxId,
  category: string,
  { expiredat, until }: { expiredat: number; until: Until },
): Promise<void> {
  if (ownNumber(until, category) >= expiredat) return;
  const { store } = deps;
  await retry<void>(deps, async () => {
    const nowS = secondsNow(deps);
    const known = await store.get(inboxCategories, inbox, { consistent: true });
    let categories = known?.categories ?? [];
    let times: Until = known?.until ?? {};
    if (ownNumber(times, category) >= expiredat) return done(undefined);
    const deleting = known?.deleting ?? [];
    if (deleting.includes(category)) throw categoryBeingDeleted();
    const isFull = () =>
      categories.filter(category => !deleting.includes(category)).length >= limits.categories;
    if (!categories.includes(category) && isFull()) {
      times = await completeTimes(deps, inbox, categories, times);
      categories = categories.filter(
        category => ownNumber(times, category) > nowS || deleting.includes(category),
      );
      if (isFull())
        throw inboxErrors.create(
          'inbox.too_many_categories',
          `An inbox can have messages in at most ${limits.categories} categories at a time. Delete a category with its messages, or wait until they expire.`,
        );
    }
    const ahead = Math.min(limits.dayS, Math.floor(Math.max(0, expiredat - nowS) / 16));
    const kept = [...new Set([...categories, category])];
    const next = Object.fromEntries(kept.flatMap(one => entryOf(times, one)));
    const guard = known ? { ifVersion: known.version } : { ifAbsent: true };
    const item = {
      ...inbox,
      categories: kept,
      until: { ...next, [category]: expiredat + ahead },
      ...(deleting.length > 0 && { deleting }),
    };
    await store.put(inboxCategories, item, guard);
    return done(undefined);
  });
}

// A category can be called `constructor`.
export const ownNumber = (counts: Readonly<Record<string, number>>, category: string): number =>
  Object.hasOwn(counts, category) ? counts[category]! : 0;

const entryOf = (times: Until, category: string): [string, number][] =>
  Object.hasOwn(times, category) ? [[category, times[category]!]] : [];

// For categories that were registered without a time, the sends show how long they have been in use.
async function completeTimes(
  deps: Deps,
  inbox: InboxId,
  categories: readonly string[],
  times: Until,
): Promise<Until> {
  if (categories.every(category => Object.hasOwn(times, category))) return times;
  const { latest, isWhole } = await readUse(deps, inbox);
  const nowS = secondsNow(deps);
  return Object.fromEntries(
    categories.flatMap((category): [string, number][] => {
      if (Object.hasOwn(times, category)) return [[category, times[category]!]];
      const found = latest.get(category);
      if (found !== undefined) return [[category, found]];
      return isWhole ? [] : [[category, nowS + limits.dayS]];
    }),
  );
}

const withdrawn: ReadonlySet<string> = new Set(['redacted', 'cancelled']);

// When the last message of each category expires. Redacted and cancelled sends do not count.
async function readUse(
  deps: Deps,
  inbox: InboxId,
): Promise<{ latest: Map<string, number>; isWhole: boolean }> {
  const latest = new Map<string, number>();
  let looked = 0;
  for await (const { taxonomy, expiredat, status } of walkSends(deps, inbox, {
    pageItems: limits.sendsTogether,
    consistent: true,
  })) {
    if (++looked > limits.sendsLookedAt) return { latest, isWhole: false };
    if (taxonomy && !withdrawn.has(status))
      latest.set(taxonomy.category, Math.max(expiredat, latest.get(taxonomy.category) ?? 0));
  }
  return { latest, isWhole: true };
}

export async function listCategories(deps: Deps, inbox: InboxId) {
  await readInbox(deps, inbox);
  const nowS = secondsNow(deps);
  const known = await deps.store.get(inboxCategories, inbox, { consistent: true });
  const times = known?.until ?? {};
  return (known?.categories ?? [])
    .map(category => ({
      category,
      until: entryOf(times, category)[0]?.[1] ?? null,
      deleting: known?.deleting?.includes(category) ?? false,
    }))
    .filter(({ until, deleting }) => until === null || until > nowS || deleting);
}

// Frees a name. Messages keep their category, so there must be none left.
export async function deleteCategory(deps: Deps, inbox: InboxId, category: string): Promise<void> {
  await readInbox(deps, inbox);
  await retry<void>(deps, async () => {
    const known = await deps.store.get(inboxCategories, inbox, { consistent: true });
    if (!known?.categories.includes(category)) throw categoryNotFound();
    if (known.deleting?.includes(category)) throw categoryBeingDeleted();
    const { latest, isWhole } = await readUse(deps, inbox);
    const until = latest.get(category) ?? (isWhole ? 0 : ownNumber(known.until ?? {}, category));
    if (until > secondsNow(deps))
      throw inboxErrors.create(
        'inbox.category_in_use',
        'The category has messages. Delete them with it (`messages=delete`), or wait until the last one expires.',
        { until },
      );
    await deps.store.transact([withoutCategory(known, category)], { pattern: 'delete a category' });
    return done(undefined);
  });
}

export function withoutCategory(known: ItemOf<typeof inboxCategories>, category: string): NamedStep {
  const { version, kind: _, deleting = [], ...item } = known;
  const categories = known.categories.filter(one => one !== category);
  const until = Object.fromEntries(categories.flatMap(category => entryOf(known.until ?? {}, category)));
  const others = deleting.filter(one => one !== category);
  const next = { ...item, categories, until, ...(others.length > 0 && { deleting: others }) };
  return ['categories', write.put(inboxCategories, next, { ifVersion: version })];
}
