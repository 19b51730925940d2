import type { Clock } from '@stak/kit';
import type { Store } from '@stak/table';
import * as limits from './limits.ts';
import {
  type Connection,
  connection,
  connectionPointer,
  connectionsOfSource,
  type Source,
  source,
  sourceById,
} from './main-table.ts';

export type SourceConfig = { source: Source; connections: readonly Connection[] };

export type Config = {
  // A source that is not deleted, and its connections that are not: at most a second old.
  of(sourceId: string): Promise<SourceConfig | undefined>;
  // As it is now. Whoever knows the owner needs no index, which may be late.
  fresh(sourceId: string, userId?: string): Promise<SourceConfig | undefined>;
  // Whoever changes something calls this after the write, so that this process knows at once.
  forget(sourceId: string): void;
};

type Entry = { loading: Promise<SourceConfig | undefined>; untilMs: number };

export function createConfig({ store, clock }: { store: Store; clock: Clock }): Config {
  const entries = new Map<string, Entry>();
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

  const fresh = (sourceId: string, userId?: string): Promise<SourceConfig | undefined> => {
    const entry = { loading: load(sourceId, userId), untilMs: clock.now() + limits.configMs };
    remember(entries, sourceId, entry);
    entry.loading.catch(() => {
      if (entries.get(sourceId) === entry) entries.delete(sourceId);
    });
    return entry.loading;
  };

  const of = (sourceId: string) => {
    const entry = entries.get(sourceId);
    return entry && entry.untilMs > clock.now() ? entry.loading : fresh(sourceId);
  };

  return {
    of,
    fresh,
    forget: sourceId => void entries.delete(sourceId),
  };
}

// The index may be late to know a source; it is never wrong about its owner.
async function findOwner(store: Store, sourceId: string): Promise<string | undefined> {
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
