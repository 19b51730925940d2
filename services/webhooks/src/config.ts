import { ferryhookMain } from '@stak/accounts';
import { type Clock, createBell } from '@stak/kit';
import { type Following, type Subscription, subscribe } from '@stak/streams';
import type { Store } from '@stak/table';
import * as limits from './limits.ts';
import {
  type Connection,
  connection,
  connectionPointer,
  connectionsOfSource,
  isFromOutside,
  type Source,
  source,
  sourceById,
  sourcesOfUser,
} from './main-table.ts';

export type SourceConfig = { source: Source; connections: readonly Connection[] };

export type Config = {
  // A source that is not deleted, and its connections that are not: at most a second old. Whoever knows the owner
  // needs no index, which may be late.
  of(sourceId: string, userId?: string): Promise<SourceConfig | undefined>;
  // As it is now.
  fresh(sourceId: string, userId?: string): Promise<SourceConfig | undefined>;
  // Those of a user that take what Stak itself has to tell, as old as that.
  ofStak(userId: string): Promise<readonly SourceConfig[]>;
  // Whoever changes a source, or adds one to a user's, calls these after the write, so that this process knows at once.
  forget(sourceId: string): void;
  forgetList(userId: string): void;
};

export function createConfig({ store, clock }: { store: Store; clock: Clock }): Config {
  const configs = createAnswers<SourceConfig | undefined>(clock);
  const lists = createAnswers<readonly string[]>(clock);
  const owners = new Map<string, string>(); // never changes for a source

  const load = async (sourceId: string, owner?: string): Promise<SourceConfig | undefined> => {
    const userId = owner ?? owners.get(sourceId) ?? (await findOwner(store, sourceId));
    if (userId === undefined) return undefined;
    remember(owners, sourceId, userId);
    const found = await store.get(source, { userId, sourceId }, { consistent: true });
    if (!found || found.status === 'deleted') return undefined;
    const connections: Connection[] = [];
    for await (const one of store.all(connectionsOfSource, { sourceId }))
      if (one.status !== 'deleted') connections.push(one);
    return { source: found, connections };
  };

  const fresh = (sourceId: string, userId?: string) => configs.keep(sourceId, load(sourceId, userId));
  // An event of a source without connections is owed to nobody, for good: before that, it is looked at again, in case
  // another process has made the first one a moment ago.
  const of = async (sourceId: string, userId?: string) => {
    const known = await configs.get(sourceId);
    return known && known.connections.length > 0 ? known : soon(sourceId, userId);
  };

  // A look that has not begun yet is new enough for everything that has arrived until then.
  const looks = new Map<string, Promise<SourceConfig | undefined>>();
  const soon = (sourceId: string, userId?: string) => {
    const known = looks.get(sourceId);
    if (known) return known;
    const look = new Promise(setImmediate).then(() => {
      looks.delete(sourceId);
      return fresh(sourceId, userId);
    });
    looks.set(sourceId, look);
    return look;
  };

  const listOfStak = async (userId: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const one of store.all(sourcesOfUser, { userId }))
      if (one.status !== 'deleted' && !isFromOutside(one)) found.push(one.sourceId);
    return found;
  };

  return {
    of,
    fresh,
    async ofStak(userId) {
      const listed = await (lists.get(userId) ?? lists.keep(userId, listOfStak(userId)));
      const found = await Promise.all(listed.map(sourceId => of(sourceId, userId)));
      return found.filter(one => one !== undefined);
    },
    forget: configs.forget,
    forgetList: lists.forget,
  };
}

// What other processes change is forgotten here as soon as the store tells of it.
export const configFollowing = (config: Config, clock: Clock): Following => ({
  subscription: subscribe({
    name: 'webhooks-config',
    table: ferryhookMain,
    entities: [source, connection],
    handle(change) {
      const item = change.new ?? change.old;
      config.forget(item.sourceId);
      if (change.entity === 'source') config.forgetList(item.userId);
    },
  }) as unknown as Subscription,
  isWanted: () => true,
  wanted: createBell(clock),
  lookAgain() {}, // nothing is kept for longer than a second anyway
  isForWoken: true,
});

// What was asked for within the last second. An answer that failed is none.
function createAnswers<V>(clock: Clock) {
  const entries = new Map<string, { loading: Promise<V>; untilMs: number }>();
  return {
    get(key: string): Promise<V> | undefined {
      const entry = entries.get(key);
      return entry && entry.untilMs > clock.now() ? entry.loading : undefined;
    },
    keep(key: string, loading: Promise<V>): Promise<V> {
      const entry = { loading, untilMs: clock.now() + limits.configMs };
      remember(entries, key, entry);
      loading.catch(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      return loading;
    },
    forget: (key: string): void => void entries.delete(key),
  };
}

// The index may be late to know a source; it is never wrong about its owner.
export async function findOwner(store: Store, sourceId: string): Promise<string | undefined> {
  const { items } = await store.query(sourceById, { sourceId }, { limit: 1 });
  return items[0]?.userId;
}

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > limits.configEntries) map.delete(map.keys().next().value!);
}

export async function findConnection(store: Store, connectionId: string): Promise<Connection | undefined> {
  const pointer = await store.get(connectionPointer, { connectionId }, { consistent: true });
  if (!pointer) return undefined;
  const { sourceId } = pointer;
  const found = await store.get(connection, { sourceId, connectionId }, { consistent: true });
  return found?.status === 'deleted' ? undefined : found;
}
