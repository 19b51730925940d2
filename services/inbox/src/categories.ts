import { type ItemOf, write } from '@stak/table';
import { ownNumber } from './broadcasts.ts';
import { type Service, secondsNow } from './deps.ts';
import { categoryGoes, inboxErrors, noCategory } from './errors.ts';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import type { Place } from './places.ts';
import { done, untilDone } from './race.ts';
import { sendsOfInbox } from './send-table.ts';
import { readInbox } from './settings.ts';
import { inboxCategories } from './table.ts';

// The categories of an inbox that have messages, or may have some. Their number is limited here, once, so that no
// recipient's stats can grow without end.

type Until = Readonly<Record<string, number>>;

// A category is known from its first message until its last has expired. The time is written a little ahead, a sixteenth
// of what the message lives, so that not every message has to write it.
export async function registerCategory(
  service: Service,
  place: Place,
  category: string,
  { expiredat, until }: { expiredat: number; until: Until },
): Promise<void> {
  if (ownNumber(until, category) >= expiredat) return;
  const { store } = service;
  await untilDone<void>(service, async () => {
    const nowS = secondsNow(service);
    const known = await store.get(inboxCategories, place, { consistent: true });
    let categories = known?.categories ?? [];
    let times: Until = known?.until ?? {};
    if (ownNumber(times, category) >= expiredat) return done(undefined);
    const deleting = known?.deleting ?? [];
    if (deleting.includes(category)) throw categoryGoes();
    const isFull = () => categories.filter(one => !deleting.includes(one)).length >= limits.categories;
    if (!categories.includes(category) && isFull()) {
      times = await completeTimes(service, place, categories, times);
      categories = categories.filter(one => ownNumber(times, one) > nowS || deleting.includes(one));
      if (isFull())
        throw inboxErrors.create(
          'inbox.too_many_categories',
          `An inbox has messages in at most ${limits.categories} categories at a time. Let those of one expire, or delete one with its messages.`,
        );
    }
    const ahead = Math.min(limits.dayS, Math.floor(Math.max(0, expiredat - nowS) / 16));
    const kept = [...new Set([...categories, category])];
    const next = Object.fromEntries(kept.flatMap(one => entryOf(times, one)));
    const guard = known ? { ifVersion: known.version } : { ifAbsent: true };
    const item = {
      ...place,
      categories: kept,
      until: { ...next, [category]: expiredat + ahead },
      ...(deleting.length > 0 && { deleting }),
    };
    await store.put(inboxCategories, item, guard);
    return done(undefined);
  });
}

const entryOf = (times: Until, category: string): [string, number][] =>
  Object.hasOwn(times, category) ? [[category, times[category]!]] : [];

// Categories that were registered without a time: what was sent says until when they are used.
async function completeTimes(
  service: Service,
  place: Place,
  categories: readonly string[],
  times: Until,
): Promise<Until> {
  if (categories.every(one => Object.hasOwn(times, one))) return times;
  const { latest, isWhole } = await readUse(service, place);
  const nowS = secondsNow(service);
  return Object.fromEntries(
    categories.flatMap((one): [string, number][] => {
      if (Object.hasOwn(times, one)) return [[one, times[one]!]];
      const found = latest.get(one);
      if (found !== undefined) return [[one, found]];
      return isWhole ? [] : [[one, nowS + limits.dayS]];
    }),
  );
}

const takenBack: ReadonlySet<string> = new Set(['redacted', 'cancelled']);

// When the last message of each category expires, as far as it was not taken back.
async function readUse(
  { store }: Service,
  place: Place,
): Promise<{ latest: Map<string, number>; isWhole: boolean }> {
  const latest = new Map<string, number>();
  let looked = 0;
  for await (const { taxonomy, expiredat, status } of store.all(sendsOfInbox, place, { consistent: true })) {
    if (++looked > limits.sendsLookedAt) return { latest, isWhole: false };
    if (taxonomy && !takenBack.has(status))
      latest.set(taxonomy.category, Math.max(expiredat, latest.get(taxonomy.category) ?? 0));
  }
  return { latest, isWhole: true };
}

export async function listCategories(service: Service, place: Place) {
  await readInbox(service, place);
  const nowS = secondsNow(service);
  const known = await service.store.get(inboxCategories, place, { consistent: true });
  const times = known?.until ?? {};
  return (known?.categories ?? [])
    .map(category => ({
      category,
      until: entryOf(times, category)[0]?.[1] ?? null,
      deleting: known?.deleting?.includes(category) ?? false,
    }))
    .filter(({ until, deleting }) => until === null || until > nowS || deleting);
}

// Makes room for another one. Messages keep their category, so those that are there have to go first.
export async function deleteCategory(service: Service, place: Place, category: string): Promise<void> {
  await readInbox(service, place);
  await untilDone<void>(service, async () => {
    const known = await service.store.get(inboxCategories, place, { consistent: true });
    if (!known?.categories.includes(category)) throw noCategory();
    if (known.deleting?.includes(category)) throw categoryGoes();
    const { latest, isWhole } = await readUse(service, place);
    const until = latest.get(category) ?? (isWhole ? 0 : ownNumber(known.until ?? {}, category));
    if (until > secondsNow(service))
      throw inboxErrors.create(
        'inbox.category_in_use',
        'There are messages in this category. Delete it together with them (`messages=delete`), or wait until the last one expires.',
        { until },
      );
    await service.store.transact([withoutCategory(known, category)], { pattern: 'delete a category' });
    return done(undefined);
  });
}

export function withoutCategory(known: ItemOf<typeof inboxCategories>, category: string): Step {
  const { version, kind: _, deleting = [], ...item } = known;
  const categories = known.categories.filter(one => one !== category);
  const until = Object.fromEntries(categories.flatMap(one => entryOf(known.until ?? {}, one)));
  const others = deleting.filter(one => one !== category);
  const next = { ...item, categories, until, ...(others.length > 0 && { deleting: others }) };
  return ['categories', write.put(inboxCategories, next, { ifVersion: version })];
}
