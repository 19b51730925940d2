import { randomUUID } from 'node:crypto';
import { type Clock, createKeyedLock } from '@stak/kit';
import * as limits from '../limits.ts';
import {
  applyEntry,
  type Entry,
  emptyState,
  type State,
  stateFromJson,
  stateToJson,
} from './manifest-state.ts';
import { keyPart, type ObjectStore } from './objects.ts';

export type Manifest = {
  readonly table: string;
  // The current state. Commits of this process change it in place, so copy what you need before the next await.
  read(): Promise<State>;
  // Builds an entry for the current state, and again for the newer one if another process commits first. `build`
  // returns undefined if there is nothing to commit.
  commit(build: (state: State) => Promise<Entry | undefined> | Entry | undefined): Promise<Entry | undefined>;
};

const digits = 12;
const decode = (body: Uint8Array): string => Buffer.from(body).toString('utf8');

// The commits of one table: numbered objects, each written with put-if-absent, so only one of two writers gets a
// number and the other one tries the next. Every fifty commits are folded into a state, and are deleted some time later.
export function openManifest(objects: ObjectStore, table: string, clock: Clock): Manifest {
  const folder = `manifest/${keyPart(table)}`;
  const commitKey = (commit: number) => `${folder}/commits/${String(commit).padStart(digits, '0')}.json`;
  const stateKey = (commit: number) => `${folder}/states/${String(commit).padStart(digits, '0')}.json`;
  const numberOf = (key: string) => Number(/(\d+)\.json$/.exec(key)?.[1]);

  let state: State | undefined;
  let readAt = 0;
  // One commit at a time in this process. Other processes compete for the number of the commit.
  const lock = createKeyedLock();
  const locked = <T>(work: () => Promise<T>): Promise<T> => lock.run([table], work);

  async function load(): Promise<State> {
    const stored: string[] = [];
    for await (const { key } of objects.list(`${folder}/states/`)) stored.push(key);
    // The newest one may be deleted while we read it, by a process that has written a newer one.
    for (const key of stored.reverse()) {
      const body = await objects.get(key);
      if (body) return stateFromJson(decode(body));
    }
    return emptyState();
  }

  async function catchUp(): Promise<State> {
    // Old commits are deleted. A process that was suspended would take the number of a deleted one to be free.
    const isStale = clock.now() - readAt > limits.manifestStaleMs || clock.now() < readAt;
    let known = state === undefined || isStale ? await load() : state;
    if (state !== undefined && known.version < state.version) known = state;
    for (;;) {
      const body = await objects.get(commitKey(known.version + 1));
      if (!body) break;
      applyEntry(known, known.version + 1, JSON.parse(decode(body)) as Entry);
    }
    state = known;
    readAt = clock.now();
    return known;
  }

  async function commit(build: Parameters<Manifest['commit']>[0]): Promise<Entry | undefined> {
    for (;;) {
      const known = await catchUp();
      const built = await build(known);
      if (!built) return undefined;
      const entry: Entry = { ...built, by: randomUUID() };
      const number = known.version + 1;
      if (clock.now() - readAt > limits.manifestStaleMs) continue;
      const isFirst = await objects.putIfAbsent(commitKey(number), Buffer.from(JSON.stringify(entry)));
      if (!isFirst && !(await isOwn(number, entry))) continue;
      applyEntry(known, number, entry);
      if (number % limits.commitsPerState === 0) await keepState(known);
      return entry;
    }
  }

  // If the response to the first put was lost, the retry finds our own commit.
  async function isOwn(number: number, { by }: Entry): Promise<boolean> {
    const body = await objects.get(commitKey(number));
    return body !== undefined && (JSON.parse(decode(body)) as Entry).by === by;
  }

  async function keepState(known: State): Promise<void> {
    const { version } = known;
    await objects.put(stateKey(version), Buffer.from(stateToJson(known)));
    const old = version - limits.statesKept * limits.commitsPerState;
    for await (const { key, changedAt } of objects.list(`${folder}/`)) {
      const isOld = numberOf(key) <= old && changedAt < clock.now() - limits.commitsKeptMs;
      if (isOld) await objects.delete(key);
    }
  }

  return { table, read: () => locked(catchUp), commit: build => locked(() => commit(build)) };
}
