import { setMaxListeners } from 'node:events';
import { createNotifier, type Owners, sharedPollMs, type Worker, watchGone } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import { type Backlogs, type ReleaseDeps, runBacklog } from './delivery/backlog.ts';
import type { Dispatcher } from './delivery/dispatcher.ts';
import { type DeliveryRef, keyOf } from './delivery/queue.ts';
import type { BaseDeps, WebhookDeps } from './deps.ts';
import { isCatchUp, type JobDeps, runJob } from './events/jobs.ts';
import * as limits from './limits.ts';
import { unlessLost } from './lost-write.ts';
import { backlog, delivery, dueWork, job } from './tables.ts';

export type SchedulerDeps = ReleaseDeps &
  JobDeps & {
    owners: Owners;
    backlogs: Pick<Backlogs, 'hold'>;
    dispatcher: Dispatcher;
    changePosition?: WebhookDeps['changePosition'];
  };

export type Scheduler = {
  worker: Worker;
  // Looks at the queue at once: something new is due.
  wake(): void;
};

// Reads the queue of all processes and gives what is due to the dispatcher of this one. When it is stopped, it starts
// nothing more and finishes what is in flight; the rest becomes due when its lease ends, or as soon as other processes
// know that this one is gone.
export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { clock, log, dispatcher, backlogs, owners, dueShards } = deps;
  const notifier = createNotifier(clock);
  let isAsked = true;
  const wake = () => {
    isAsked = true;
    notifier.notify();
  };

  async function run(signal: AbortSignal): Promise<void> {
    const owner = owners.next(); // each run is an owner of its own
    const cutOff = new AbortController();
    setMaxListeners(0, cutOff.signal); // every request listens
    const background = createBackground((kind, error) => log.error({ err: error }, `a ${kind} failed`), wake);
    let enough = 0; // looks for more when fewer than this are waiting
    const onRoom = () => {
      if (dispatcher.waiting() < enough) wake();
    };
    const scan = { ...deps, holdDelivery: backlogs.hold, ...startersOf(deps, background, owner, signal) };
    const passes: Passes = new Map();
    const pace = createPace(deps);
    // Work in flight continues, and the queue is read again in a moment.
    const unlessAway = (error: unknown): QueueScan => {
      if (!isUnavailable(error)) throw error;
      log.warn({ err: error }, 'the queue could not be read');
      return { hasMore: false, empty: [] };
    };
    let found: QueueScan = { hasMore: false, empty: [] };

    dispatcher.start({ owner, signal: cutOff.signal, onRoom });
    const gone = watchGone(owners, wake);
    try {
      while (!signal.aborted) {
        await gone.check(async () => {
          await dueShards.refresh('urgent'); // a dead process may have added some
          await takeOverDeadLeases(deps);
        });
        await dueShards.refresh();
        const shards = isAsked ? dueShards.all() : pace.shards();
        if (isAsked || !isStill(deps, found)) {
          isAsked = false;
          found = await scanOnce(scan, passes, shards).catch(unlessAway);
          pace.note(shards, found.empty);
          enough = found.hasMore ? dispatcher.waiting() / 2 : 0;
        }
        const isShort = found.hasMore && dispatcher.waiting() <= enough;
        await notifier.wait(isShort ? limits.rescanMs : limits.scanMs, signal);
      }
    } finally {
      gone.stop();
      const drained = new AbortController();
      const ending = Promise.all([dispatcher.stop(), background.idle()]).finally(() => drained.abort());
      await clock.sleep(limits.drainMs, drained.signal).catch(() => {});
      cutOff.abort();
      await ending;
    }
  }
  return { worker: { name: 'webhooks deliveries', run }, wake };
}

const startersOf = (
  deps: SchedulerDeps,
  background: ReturnType<typeof createBackground>,
  owner: string,
  signal: AbortSignal,
): Pick<ScanDeps, 'runBacklog' | 'runJob'> => ({
  runBacklog: id => background.run('backlog', id, () => runBacklog(deps, id, owner, signal)),
  runJob: ref =>
    background.run(isCatchUp(ref) ? 'catchUp' : 'job', ref.jobId, () => runJob(deps, ref, owner, signal)),
});

// Decides which shards to read. An empty one is read each second by one process, and less often by the others.
function createPace({ clock, owners, dueShards }: SchedulerDeps) {
  const emptySince = new Map<string, { atMs: number; waitMs: number }>();
  // A timer may be early, and a clock may be set back.
  const mayRest = (shard: string, nowMs: number): boolean => {
    const { atMs = 0, waitMs = 0 } = emptySince.get(shard) ?? {};
    return nowMs >= atMs && nowMs < atMs + waitMs - limits.rescanMs;
  };
  return {
    shards: (): string[] => dueShards.all().filter(shard => !mayRest(shard, clock.now())),
    note(read: readonly string[], empty: readonly string[]): void {
      for (const shard of read) emptySince.delete(shard);
      for (const shard of empty) {
        const waitMs = sharedPollMs(owners, `deliveries ${shard}`, limits.scanMs);
        if (waitMs > limits.scanMs) emptySince.set(shard, { atMs: clock.now(), waitMs });
      }
    },
  };
}

type QueueScan = {
  hasMore: boolean;
  empty: readonly string[];
  quiet?: { position: number; untilMs: number; shards: number };
};

// Where the store can tell that nothing was written since a scan that found nothing, the next one waits until something
// is due.
const isStill = ({ changePosition, clock, dueShards }: SchedulerDeps, { quiet }: QueueScan): boolean =>
  quiet !== undefined &&
  clock.now() < quiet.untilMs &&
  dueShards.all().length === quiet.shards &&
  changePosition?.() === quiet.position;

async function scanOnce(
  deps: ScanDeps & Pick<SchedulerDeps, 'changePosition'>,
  passes: Passes,
  shards: readonly string[],
): Promise<QueueScan> {
  const nowMs = deps.clock.now();
  const position = deps.changePosition?.();
  const scanned = await scanQueue(deps, passes, shards);
  const isEmpty = scanned.empty.length === deps.dueShards.all().length;
  if (!isEmpty || position === undefined) return scanned;
  if (deps.changePosition?.() !== position) return scanned; // the next scan cannot be spared
  return { ...scanned, quiet: { position, untilMs: await nextDueMs(deps, nowMs), shards: shards.length } };
}

async function nextDueMs({ store, dueShards }: ScanDeps, afterMs: number): Promise<number> {
  const first = { after: { dueAt: afterMs }, limit: 1 };
  const shards = await Promise.all(dueShards.all().map(dueIn => store.query(dueWork, { dueIn }, first)));
  return Math.min(...shards.flatMap(({ items }) => items.map(({ item }) => item.dueAt ?? afterMs)));
}

type Kind = keyof typeof limits.backgroundRuns;

// Each kind has slots of its own: jobs may take hours, and neither backlogs nor events that are owed may wait for them.
// Work that finds no slot is still due when another one ends. Work that fails is due again when its lease ends.
function createBackground(onError: (kind: Kind, error: unknown) => void, onEnd: () => void) {
  type Running = Map<string, Promise<void>>;
  const running: Record<Kind, Running> = { backlog: new Map(), job: new Map(), catchUp: new Map() };
  return {
    run(kind: Kind, id: string, start: () => Promise<void>): void {
      const own = running[kind];
      if (own.has(id) || own.size >= limits.backgroundRuns[kind]) return;
      const ending = start()
        .catch((error: unknown) => onError(kind, error))
        .finally(() => {
          own.delete(id);
          onEnd();
        });
      own.set(id, ending);
    },
    idle: () => Promise.all(Object.values(running).flatMap(own => [...own.values()])),
  };
}

export type ScanDeps = Pick<BaseDeps, 'store' | 'clock' | 'dueShards'> & {
  dispatcher: Pick<Dispatcher, 'offer' | 'isSlow'>;
  holdDelivery(ref: DeliveryRef): Promise<void>;
  runBacklog(connectionId: string): void;
  runJob(ref: { userId: string; jobId: string }): void;
};

// How far a pass over a shard has come that one scan did not finish. The next scan continues there: from the beginning it
// would find what waits in memory already, and never what is behind.
type Pass = { to: { dueAt: number }; cursor: string };
export type Passes = Map<string, Pass>; // by shard

// Reads what is due. `hasMore`: there is more than could be taken.
export async function scanQueue(
  deps: ScanDeps,
  passes: Passes,
  shards: readonly string[] = deps.dueShards.all(),
): Promise<{ hasMore: boolean; empty: string[] }> {
  const found = await Promise.all(shards.map(shard => scanShard(deps, shard, passes)));
  return { hasMore: found.includes('more'), empty: shards.filter((_, index) => found[index] === 'empty') };
}

async function scanShard(deps: ScanDeps, dueIn: string, passes: Passes): Promise<'more' | 'all' | 'empty'> {
  const nowMs = deps.clock.now();
  const begun = passes.get(dueIn);
  const to = begun?.to ?? { dueAt: nowMs };
  let cursor = begun?.cursor;
  passes.delete(dueIn);
  for (let page = 0; page < limits.scanPages; page++) {
    const found = await deps.store.query(dueWork, { dueIn }, { to, limit: limits.scanItems, cursor });
    let taken = 0;
    const excess: DeliveryRef[] = [];
    for (const due of found.items) {
      if (due.entity === 'backlog') deps.runBacklog(due.item.connectionId);
      else if (due.entity === 'job') deps.runJob(due.item);
      else {
        const offered = deps.dispatcher.offer(due.item);
        if (offered === 'taken') taken += 1;
        // A quick connection will get to it in time. Of a slow one, or one that did not get to it, enough is in
        // memory: the rest goes to its backlog and makes room for others.
        else if (offered === 'full') {
          const { connectionId, dueAt = nowMs } = due.item;
          if (deps.dispatcher.isSlow(connectionId) || dueAt < nowMs - limits.overdueMs) excess.push(due.item);
        }
      }
    }
    await Promise.all(excess.map(deps.holdDelivery));
    cursor = found.cursor;
    if (cursor === undefined) {
      if (begun) return 'more'; // the next one begins again
      return page === 0 && found.items.length === 0 ? 'empty' : 'all';
    }
    passes.set(dueIn, { to, cursor });
    if (taken > 0) return 'more';
    // Everything on this page is known or has to wait; the next page may hold something else.
  }
  return 'more';
}

type DueWork =
  | { entity: 'delivery'; item: DeliveryRef }
  | { entity: 'backlog'; item: { connectionId: string } }
  | { entity: 'job'; item: { userId: string; jobId: string } };

type LeaseDeps = Pick<BaseDeps, 'store' | 'clock' | 'dueShards'> & {
  owners: Owners;
  dispatcher: Pick<Dispatcher, 'offer'>;
};

// Takes over what dead processes had leased, instead of when the leases end. The index does not say who holds a
// lease, so everything that becomes due within a lease's time is read. That happens when a process starts, and when
// another one has died.
async function takeOverDeadLeases(deps: LeaseDeps): Promise<void> {
  await Promise.all(deps.dueShards.all().map(shard => takeOverShard(deps, shard)));
}

async function takeOverShard(deps: LeaseDeps, dueIn: string): Promise<void> {
  const nowMs = deps.clock.now();
  const range = { after: { dueAt: nowMs }, to: { dueAt: nowMs + limits.leaseMs } };
  let cursor: string | undefined;
  for (let page = 0; page < limits.takeoverPages; page++) {
    const found = await deps.store.query(dueWork, { dueIn }, { ...range, limit: limits.scanItems, cursor });
    await Promise.all(found.items.map(due => takeOver(deps, due, nowMs)));
    cursor = found.cursor;
    if (cursor === undefined) return;
  }
}

// On the condition that the dead owner still holds it: other processes do the same. A delivery is claimed by the
// dispatcher if it has room for it; everything else is made due.
async function takeOver(
  { store, owners, dispatcher, dueShards }: LeaseDeps,
  found: DueWork,
  dueAt: number,
): Promise<void> {
  const release = async (
    leased: { owner?: string } | undefined,
    write: (owner: string) => Promise<unknown>,
  ) => {
    if (leased?.owner === undefined || !(await owners.isGone(leased.owner))) return;
    await unlessLost(write(leased.owner));
  };
  const change = (id: string) => ({ set: { dueIn: dueShards.of(id), dueAt }, remove: ['owner'] as const });
  const read = { consistent: true, pattern: 'work to take over' };
  const pattern = 'take over work';
  if (found.entity === 'delivery') {
    const key = keyOf(found.item);
    return release(await store.get(delivery, key, read), async owner => {
      if (dispatcher.offer({ ...key, goneOwner: owner }) === 'full')
        await store.update(delivery, key, change(key.eventId), { if: { owner }, pattern });
    });
  }
  if (found.entity === 'backlog') {
    const { connectionId } = found.item;
    return release(await store.get(backlog, { connectionId }, read), owner =>
      store.update(backlog, { connectionId }, change(connectionId), { if: { owner }, pattern }),
    );
  }
  // It keeps its owner: the next claim counts the death.
  const { userId, jobId } = found.item;
  const { set } = change(jobId);
  return release(await store.get(job, { userId, jobId }, read), owner =>
    store.update(job, { userId, jobId }, { set }, { if: { owner }, pattern }),
  );
}
