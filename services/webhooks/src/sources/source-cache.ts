import { type Clock, createNotifier, createRecentMap, createTimedCache, timeOf } from '@stak/kit';
import { type FollowerOptions, type Subscription, subscribe } from '@stak/streams';
import { tableErrors } from '@stak/table';
import * as limits from '../limits.ts';
import {
  bySource,
  type Connection,
  connection,
  ferryhookMain,
  type Source,
  source,
  sourcesOfUser,
} from '../main-table.ts';
import type { Provider } from '../signatures/signing.ts';
import { findInIndex } from '../source-owner.ts';
import { type AdoptDeps, adoptConnection, adoptSource } from './adopt.ts';

// `readMs`: when the read began. Changes made since may be missing.
export type SourceView = { source: Source; connections: readonly Connection[]; readMs: number };

// A source whose sender is not Stak itself.
export type OutsideSource = Source & { provider: Provider };
export const isFromOutside = (one: Source): one is OutsideSource => one.provider !== 'stak';

export type SourceCache = {
  // A source and its connections, without deleted ones, at most a second old.
  get(sourceId: string, userId?: string): Promise<SourceView | undefined>;
  // Reads the table.
  getFresh(sourceId: string, userId?: string): Promise<SourceView | undefined>;
  // The same view, or a new one if too much time has passed to store an event on it. Undefined if the source is deleted.
  renew(view: SourceView): Promise<SourceView | undefined>;
  // The user's sources with the provider `stak`, at most a second old.
  listStakSources(userId: string): Promise<readonly SourceView[]>;
  // For a new source, so that this process need not wait for the index.
  setOwner(sourceId: string, userId: string): void;
  // Called after a write to a source or its connections, so that this process sees the change at once.
  invalidate(sourceId: string): void;
  invalidateList(userId: string): void;
};

export type SourceCacheDeps = AdoptDeps & { clock: Clock; hasLateIndexes: boolean };

// The rules of a connection may have a hundred kilobytes, and all else has a few.
const charsOf = (view: SourceView | undefined): number =>
  view?.connections.reduce((sum, { filters, transform }) => sum + filters.length + transform.length, 0) ?? 0;

export function createSourceCache(deps: SourceCacheDeps): SourceCache {
  const { store, clock } = deps;
  const settings = { clock, most: limits.sourceCacheEntries, forMs: limits.sourceCacheMs };
  const weighing = { weigh: charsOf, mostWeight: limits.sourceCacheChars };
  const sources = createTimedCache<SourceView | undefined>({ ...settings, weighing });
  const lists = createTimedCache<readonly string[]>(settings);
  const owners = createRecentMap<string, string>(limits.sourceCacheEntries); // a source never changes its owner

  const load = async (sourceId: string, owner?: string): Promise<SourceView | undefined> => {
    const readMs = clock.now();
    const connections: Connection[] = [];
    let userId = owner ?? owners.get(sourceId);
    for await (const { entity, item } of store.all(bySource, { sourceId })) {
      // The pointer comes after the connections, and says who owns the source. One of an earlier version has none.
      if (entity === 'source pointer') userId = item.userId;
      userId ??= item.userId;
      const known = entity === 'connection' ? await adoptConnection(deps, item) : undefined;
      if (known && known.status !== 'deleted') connections.push(known);
    }
    userId ??= await awaitOwner(deps, sourceId);
    if (userId === undefined) return undefined;
    owners.set(sourceId, userId);
    const stored = await store.get(source, { userId, sourceId }, { consistent: true });
    const found = stored && (await adoptSource(deps, stored));
    return !found || found.status === 'deleted' ? undefined : { source: found, connections, readMs };
  };

  const getFresh = (sourceId: string, userId?: string) => sources.set(sourceId, load(sourceId, userId));
  // An event of a source without connections is never delivered. So before that, the source is read again, in case
  // another process has just created the first connection.
  const get = async (sourceId: string, userId?: string) => {
    const known = await sources.get(sourceId);
    return known && known.connections.length > 0 ? known : getTogether(sourceId, userId);
  };

  // Requests that arrive before a read has started share it: it is recent enough for all of them.
  const reads = new Map<string, Promise<SourceView | undefined>>();
  const getTogether = (sourceId: string, userId?: string) => {
    const known = reads.get(sourceId);
    if (known) return known;
    const read = new Promise(setImmediate).then(() => {
      reads.delete(sourceId);
      return getFresh(sourceId, userId);
    });
    reads.set(sourceId, read);
    return read;
  };

  // A clock may step back.
  const isOld = ({ readMs }: SourceView): boolean => Math.abs(clock.now() - readMs) > limits.viewMs;
  const renew = async (view: SourceView): Promise<SourceView | undefined> => {
    const { sourceId, userId } = view.source;
    let current: SourceView | undefined = view;
    for (let left = limits.viewReads; current && isOld(current); left--) {
      if (left === 0) throw tableErrors.create('table.busy', 'The store is too slow.', { retryAfterS: 1 });
      current = await getTogether(sourceId, userId);
    }
    return current;
  };

  const loadStakSources = async (userId: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const one of store.all(sourcesOfUser, { userId }))
      if (one.status !== 'deleted' && !isFromOutside(one)) found.push(one.sourceId);
    return found;
  };

  return {
    get,
    getFresh,
    renew,
    setOwner: owners.set,
    async listStakSources(userId) {
      const listed = await lists.load(userId, () => loadStakSources(userId));
      const found = await Promise.all(listed.map(sourceId => get(sourceId, userId)));
      return found.filter(one => one !== undefined);
    },
    invalidate: sources.delete,
    invalidateList: lists.delete,
  };
}

// Invalidates what other processes have changed, as soon as it appears in the table's stream.
export const sourceCacheInvalidation = (cache: SourceCache, clock: Clock): FollowerOptions => ({
  subscription: subscribe({
    name: 'webhooks-config',
    table: ferryhookMain,
    entities: [source, connection],
    handle(change) {
      const item = change.new ?? change.old;
      cache.invalidate(item.sourceId);
      if (change.entity === 'source') cache.invalidateList(item.userId);
    },
  }) as unknown as Subscription,
  hasListeners: () => true,
  listenerAdded: createNotifier(clock),
  onMissed() {}, // nothing is cached for longer than a second
  skipIfPolled: true,
});

// For a source of an earlier version, which wrote no pointer to its owner. The id says when it was created. The index may
// not list a new one yet, and a sender would take 404 for the last word: it waits a little, and is then asked to come
// again.
async function awaitOwner(deps: SourceCacheDeps, sourceId: string): Promise<string | undefined> {
  const { store, clock, hasLateIndexes } = deps;
  const isNew = () => hasLateIndexes && Math.abs(clock.now() - (timeOf(sourceId) ?? 0)) < limits.newSourceMs;
  for (const waitMs of limits.newSourceWaitsMs) {
    const owner = await findInIndex(store, sourceId);
    if (owner !== undefined || !isNew()) return owner;
    await clock.sleep(waitMs);
  }
  const owner = await findInIndex(store, sourceId);
  if (owner === undefined && isNew())
    throw tableErrors.create('table.busy', 'The source may be too new. Try again.', { retryAfterS: 1 });
  return owner;
}
