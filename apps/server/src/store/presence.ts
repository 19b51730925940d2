import { hash } from 'node:crypto';
import {
  type Clock,
  type Ids,
  type Logger,
  type Neighbours,
  type Owners,
  storeOwners,
  type Worker,
} from '@stak/kit';
import { streamsKeys, streamsTable } from '@stak/streams';
import { defineQuery, entity, extendTable, type Store } from '@stak/table';
import { z } from 'zod';
import { arrival } from './archive/arrival.ts';

// The serving processes of a store that does not know them, such as DynamoDB: each process reports every few seconds
// that it is alive. The leases of one that has stopped are taken over.
// docs/adr/0074-processes-say-that-they-are-alive.md

export const beatMs = 2_000;
const aliveMs = 7_000; // two reports may fail
const skewMs = 1_500; // clocks differ by a second
const retryMs = 500;
const keptS = 60 * 60;

// Every server reads the reports of all, from one partition. Where there are hundreds, each of them looks less often, so
// that all together use less than half of what the partition gives. docs/adr/0177-many-servers-look-less-often.md
export const lookAgainMs = (servers: number): number => servers ** 2 / 38;

const time = z.number().int();

export const servingProcess = entity(streamsKeys, {
  name: 'serving process',
  description: 'A process that serves on this store, while it renews this item.',
  schema: z.object({ id: z.string(), public_url: z.string(), alive_until: time, expires_at: time }),
  key: { partition: 'servers', sort: '{id}' },
  examples: [
    {
      id: 'srv_0mjuxvy9s00k1g5xq0d8w3ut',
      public_url: 'https://stak.example.com',
      alive_until: 1767225609000,
      expires_at: 1767229200,
    },
  ],
});
const servingProcesses = defineQuery('serving processes', { of: servingProcess, consistent: true });

export const serverStreamsTable = extendTable(streamsTable, {
  entities: [servingProcess, arrival],
  queries: [servingProcesses],
});

/** Whether a server runs on this store, which does not know its processes itself. */
export async function isServed(store: Store, nowMs: number): Promise<boolean> {
  for await (const server of store.all(servingProcesses, {})) if (isAlive(server, nowMs)) return true;
  return false;
}

export type Presence = {
  owners: Owners;
  begin(): Promise<void>; // call it before anything is leased
  worker: Worker;
  leave(): Promise<void>; // call it when nothing is leased any more, and the worker has stopped
  // Servers with different public URLs refuse each other's tokens, which are signed for the URL.
  check(): Promise<'degraded' | undefined>;
};

type Deps = { store: Store; clock: Clock; ids: Ids; log: Logger; publicUrl: string };

export function createPresence({ store, clock, ids, log, publicUrl: public_url }: Deps): Presence {
  const id = ids.next('srv');
  const listeners = new Set<() => void>();
  let seenAlive = new Set<string>();
  let others: readonly string[] = [];

  // Others can be judged by their reports only while reports arrive: if ours do not, theirs may not either.
  let aliveUntilMs = clock.now() + aliveMs; // as others see this process; a first report can be late as well
  let judgeFromMs = 0;
  let judgedAtMs = 0;
  const doubt = () => {
    judgeFromMs = clock.now() + aliveMs;
  };
  const canJudge = (atMs: number): boolean => atMs >= judgeFromMs && atMs < aliveUntilMs;

  // A report holds from when it was begun, so one that took long holds for less: how long ago it arrived is not known.
  async function beat(): Promise<void> {
    const nowMs = clock.now();
    const until = nowMs + aliveMs;
    const expires_at = Math.ceil(nowMs / 1000) + keptS;
    try {
      await store.put(servingProcess, { id, public_url, alive_until: until, expires_at });
    } catch (error) {
      doubt();
      throw error;
    }
    if (clock.now() > aliveUntilMs) doubt(); // the one before had run out
    aliveUntilMs = until;
  }

  // Returns when to look again: when the first of the others is gone, unless it reports again, or with the next report.
  async function look(): Promise<number> {
    const atMs = clock.now(); // what is read may be as old
    const servers: { id: string; public_url: string; alive_until: number }[] = [];
    for await (const server of store.all(servingProcesses, {}))
      if (isAlive(server, atMs)) servers.push(server);
    const alive = servers.map(server => server.id);
    if (canJudge(atMs)) {
      const before = seenAlive;
      seenAlive = new Set(alive);
      // After a doubt, workers must ask again about those of whom they were told that they may be alive.
      const mayHaveGone = judgedAtMs < judgeFromMs || [...before].some(id => !seenAlive.has(id));
      judgedAtMs = atMs;
      if (mayHaveGone) for (const listener of listeners) listener();
    } else for (const id of alive) seenAlive.add(id);

    const elsewhere = [...new Set(servers.map(entry => entry.public_url))].filter(url => url !== public_url);
    const isNew = elsewhere.some(url => !others.includes(url));
    others = elsewhere;
    if (isNew)
      log.warn(
        { public_url, others },
        'servers on this store have different public addresses, and refuse each other’s tokens: set the same STAK_PUBLIC_URL on all of them',
      );
    const ends = servers.filter(entry => entry.id !== id).map(entry => entry.alive_until + skewMs);
    return Math.max(atMs + lookAgainMs(servers.length), Math.min(clock.now() + beatMs, ...ends));
  }

  const neighbours: Neighbours = {
    id,
    // Read again: a process that was suspended may be back, and a new one is in no list yet. A process reports that it
    // is alive before it leases anything, and deletes its report when it holds nothing any more.
    async isGone(other) {
      if (other === id || seenAlive.has(other)) return false;
      const atMs = clock.now();
      const storedServingProcess = await store.get(servingProcess, { id: other }, { consistent: true });
      return !storedServingProcess || (canJudge(atMs) && !isAlive(storedServingProcess, atMs));
    },
    aliveUntilMs: () => aliveUntilMs,
    // Servers in the order of their ids; each list begins with another one of them.
    rankOf(list) {
      const servers = [...new Set([id, ...seenAlive])].sort();
      const first = Number.parseInt(hash('md5', list).slice(0, 8), 16) % servers.length;
      return (servers.indexOf(id) - first + servers.length) % servers.length;
    },
    onGone(listener) {
      const heard = () => listener('');
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
  };

  // Goes on after any error: a worker that fails is restarted after up to half a minute, in which others would take this
  // process for dead. `work` returns when it is due again.
  async function repeat(signal: AbortSignal, what: string, work: () => Promise<number>): Promise<void> {
    let hasFailed = false;
    while (!signal.aborted) {
      let dueMs: number;
      try {
        dueMs = await work();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) log.warn({ err: error }, `this process cannot ${what}, trying again`);
        hasFailed = true;
        dueMs = clock.now() + retryMs;
      }
      await clock.sleep(dueMs - clock.now(), signal).catch(() => {});
    }
  }

  return {
    owners: storeOwners(ids, neighbours),
    // Looks as well, so that none is missed whose time ends between the first search for leases and the next look. At the
    // same time, because on a slow store the next report is soon due.
    async begin() {
      await Promise.all([beat(), look()]);
    },
    check: async () => (others.length > 0 ? 'degraded' : undefined),
    worker: {
      name: 'server presence',
      async run(signal) {
        // Reports do not wait for looks, which are as slow as the store.
        const beating = repeat(signal, 'report that it is alive', async () => {
          const startedMs = clock.now();
          await beat();
          return startedMs + beatMs;
        });
        const looking = repeat(signal, 'see which servers are alive', look);
        await Promise.all([beating, looking]);
      },
    },
    leave: () =>
      store.delete(servingProcess, { id }).then(
        () => {},
        error => log.warn({ err: error }, 'this process counts as alive for some seconds after it has ended'),
      ),
  };
}

const isAlive = ({ alive_until }: { alive_until: number }, atMs: number): boolean =>
  alive_until + skewMs > atMs;
