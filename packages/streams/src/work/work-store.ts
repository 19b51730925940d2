import type { Clock } from '@stak/kit';
import { and, type ItemOf, is, isRefused, or, type Store, write } from '@stak/table';
import { LeaseLostError } from '../errors.ts';
import { finishedShardMs } from '../limits.ts';
import type { Shard } from '../source/shards.ts';
import { beginning, member, missed, stateOfConsumer, work } from './state-table.ts';
import type { Gap } from './subscription.ts';

// The work of a consumer and its progress, shared by all processes that run it.

export type Work = {
  key: string;
  streamArn?: string;
  shardId?: string;
  owner?: string;
  leaseUntilMs?: number;
  fence: number;
  sequence?: string;
  changedAt?: number;
  requestedAt?: number;
  finishedAt?: number;
};

// Work that this process has leased. Renewals and checkpoints update its times.
export type Lease = {
  readonly key: string;
  readonly fence: number;
  untilMs: number;
  sequence?: string;
  changedAt?: number;
};

export type State = {
  // The processes that run the consumer, by owner. A process of an older version reports no node: it keeps its work,
  // and gets no more.
  members: Map<string, { node?: string; aliveUntilMs: number }>;
  works: Map<string, Work>;
};

const closedAtOnce = 99; // as many as a transaction takes, with the condition

export type WorkStore = ReturnType<typeof createWorkStore>;
type Settings = {
  store: Store;
  clock: Clock;
  consumer: string;
  owner: string;
  node?: string; // processes that share reads; a node of its own by default
  leaseMs: number;
};

export function createWorkStore({ store, clock, consumer, owner, node = owner, leaseMs }: Settings) {
  const until = () => clock.now() + leaseMs;
  const seconds = (ms: number) => Math.ceil(ms / 1000);

  // `gone` is an owner that is known to be dead: its lease counts as expired. So does one of this run of the process: its
  // task has ended without giving it back.
  async function acquire(key: string, shard?: Shard, gone?: string): Promise<Lease | undefined> {
    const untilMs = until();
    const hasEnded = or({ owner: is.absent }, { lease_until: is.atMost(clock.now()) });
    const isFree = or(hasEnded, { owner }, ...(gone === undefined ? [] : [{ owner: gone }]));
    try {
      const taken = await store.update(
        work,
        { consumer, work: key },
        {
          set: { owner, lease_until: untilMs, stream_arn: shard?.streamArn, shard_id: shard?.shardId },
          add: { fence: 1 },
        },
        { upsert: true, if: and({ finished_at: is.absent }, isFree) },
      );
      return { key, fence: taken.fence, untilMs, sequence: taken.sequence, changedAt: taken.changed_at };
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  }

  type Change = Parameters<typeof store.update<typeof work>>[2];

  // The fence shows that no other process has taken over the work, even if the lease has expired.
  async function writeHeld(lease: Lease, change: Change): Promise<void> {
    try {
      await store.update(work, { consumer, work: lease.key }, change, { if: { owner, fence: lease.fence } });
    } catch (error) {
      throw isRefused(error)
        ? new LeaseLostError(`${lease.key} of ${consumer} belongs to another process`)
        : error;
    }
  }

  async function renew(lease: Lease): Promise<void> {
    const untilMs = until();
    await writeHeld(lease, { set: { lease_until: untilMs } });
    lease.untilMs = untilMs;
  }

  async function checkpoint(lease: Lease, sequence: string, changedAt: number | undefined): Promise<void> {
    const untilMs = until();
    await writeHeld(lease, { set: { sequence, changed_at: changedAt, lease_until: untilMs } });
    lease.untilMs = untilMs;
    lease.sequence = sequence;
    lease.changedAt = changedAt ?? lease.changedAt;
  }

  const finish = (lease: Lease, sequence?: string): Promise<void> =>
    writeHeld(lease, {
      set: { sequence, finished_at: clock.now(), expires_at: seconds(clock.now() + finishedShardMs) },
      remove: ['owner', 'lease_until'],
    });

  const release = (lease: Lease): Promise<void> => writeHeld(lease, { remove: ['owner', 'lease_until'] });

  const noteMissed = (table: string, { shardId, sinceMs }: Gap) =>
    store.update(
      missed,
      { consumer },
      { set: { table, shard_id: shardId, noticed_at: clock.now() }, setOnce: { since: sinceMs } },
      { upsert: true },
    );

  // For a transaction that must fail if this process has lost the work.
  const stillHeld = (lease: Lease) =>
    write.check(work, { consumer, work: lease.key }, { present: true, if: { owner, fence: lease.fence } });

  const setElsewhere = (elsewhere: boolean) =>
    store.update(beginning, { consumer }, elsewhere ? { set: { elsewhere } } : { remove: ['elsewhere'] });

  const readBeginning = () => store.get(beginning, { consumer }, { consistent: true });

  // Returns false if another process was first. `closed` are shards to skip; no process has a lease yet.
  async function begin(
    { position, table, startedAt }: { position: 'TRIM_HORIZON' | 'LATEST'; table: string; startedAt: number },
    closed: readonly string[],
  ): Promise<boolean> {
    const over = { fence: 0, finished_at: startedAt, expires_at: seconds(startedAt + finishedShardMs) };
    try {
      for (let start = 0; start < closed.length; start += closedAtOnce) {
        const shards = closed.slice(start, start + closedAtOnce);
        await store.transact([
          ['beginning', write.check(beginning, { consumer }, { absent: true })],
          ...shards.map(key => [key, write.put(work, { consumer, work: key, ...over })] as const),
        ]);
      }
      await store.put(beginning, { consumer, table, position, started_at: startedAt }, { ifAbsent: true });
      return true;
    } catch (error) {
      if (isRefused(error)) return false;
      throw error;
    }
  }

  async function join(): Promise<void> {
    const aliveUntil = until();
    const expires_at = seconds(aliveUntil);
    await store.put(member, { consumer, owner, node, alive_until: aliveUntil, expires_at });
  }
  const leave = async () => void (await store.delete(member, { consumer, owner }));

  // Removes shards that finished long ago and are not listed any more.
  async function forget(keys: readonly string[]): Promise<void> {
    const steps = keys.map(key => write.delete(work, { consumer, work: key }));
    await store.batchWrite(steps, { pattern: 'forget finished shards' });
  }

  const read = () => readState(store, consumer, clock.now());

  return {
    owner,
    node,
    begin,
    setElsewhere,
    readBeginning,
    acquire,
    renew,
    checkpoint,
    finish,
    release,
    noteMissed,
    stillHeld,
    join,
    leave,
    forget,
    read,
  };
}

export async function readState(store: Store, consumer: string, nowMs: number): Promise<State> {
  const state: State = { members: new Map(), works: new Map() };
  for await (const found of store.all(stateOfConsumer, { consumer })) {
    if (found.entity === 'work') state.works.set(found.item.work, workOf(found.item));
    else if (found.item.alive_until > nowMs)
      state.members.set(found.item.owner, { node: found.item.node, aliveUntilMs: found.item.alive_until });
  }
  return state;
}

const workOf = (item: ItemOf<typeof work>): Work => ({
  key: item.work,
  streamArn: item.stream_arn,
  shardId: item.shard_id,
  owner: item.owner,
  leaseUntilMs: item.lease_until,
  fence: item.fence,
  sequence: item.sequence,
  changedAt: item.changed_at,
  requestedAt: item.requested_at,
  finishedAt: item.finished_at,
});
