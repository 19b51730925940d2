import { randomUUID } from 'node:crypto';
import type { Clock } from '@stak/kit';
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
  // As it is now. Commits of this process change it in place: take what you need of it before you wait for anything.
  read(): Promise<State>;
  // Builds an entry for the state there is, and again for a newer one if another process was faster. Undefined if
  // there is nothing (any more) to commit.
  commit(build: (state: State) => Promise<Entry | undefined> | Entry | undefined): Promise<Entry | undefined>;
};

const digits = 12;
const decode = (body: Uint8Array): string => Buffer.from(body).toString('utf8');

// The list of commits of one table: numbered objects, each put if absent, so of two writers one is first and the
// other one looks again. Folded states are kept beside it, and commits that they hold are removed after a while.
export function openManifest(objects: ObjectStore, table: string, clock: Clock): Manifest {
  const folder = `manifest/${keyPart(table)}`;
  const commitKey = (commit: number) => `${folder}/commits/${String(commit).padStart(digits, '0')}.json`;
  const stateKey = (commit: number) => `${folder}/states/${String(commit).padStart(digits, '0')}.json`;
  const numberOf = (key: string) => Number(/(\d+)\.json$/.exec(key)?.[1]);

  let state: State | undefined;
  let readAt = 0;
  let queue: Promise<unknown> = Promise.resolve();

  // One at a time in this process; other processes are met at the numbers.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work, work);
    queue = turn.catch(() => {});
    return turn;
  }

  async function load(): Promise<State> {
    const stored: string[] = [];
    for await (const { key } of objects.list(`${folder}/states/`)) stored.push(key);
    // The newest one may be removed while it is being read, by a process that has written a newer one.
    for (const key of stored.reverse()) {
      const body = await objects.get(key);
      if (body) return stateFromJson(decode(body));
    }
    return emptyState();
  }

  async function catchUp(): Promise<State> {
    // Commits are removed when they are old: one who slept would take a missing number for a free one.
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

  // An answer that was lost on the way makes the second try find the first one's commit.
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

  return { table, read: () => inTurn(catchUp), commit: build => inTurn(() => commit(build)) };
}
