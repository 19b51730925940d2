import type { Clock, Notifier, Owners } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import { beginConsumer } from './beginning.ts';
import { LeaseLostError } from './errors.ts';
import * as limits from './limits.ts';
import { delayMs } from './page.ts';
import { isFree, planWork } from './plan.ts';
import { redriveKey, redriveLetters } from './redrive.ts';
import { consumeShard, type TaskDeps } from './shard-task.ts';
import { listShards, type Shard } from './shards.ts';
import { type Follower, followSignal } from './signal.ts';
import type { Lease, State } from './work.ts';

type Task = { lease: Lease; stop: Follower; ended: Promise<void> };

export type RunSettings = TaskDeps & {
  leaseMs: number;
  owners: Owners;
  isElsewhere: boolean; // another reads the stream: nothing but dead letters is handled here
  wake: Notifier;
  held: Set<string>; // what this process works on
};

// Runs a consumer in this process until the signal is aborted: takes its share of the work, keeps the leases
// alive, and gives everything back at the end.
export async function runConsumer(settings: RunSettings, signal: AbortSignal): Promise<void> {
  const { subscription, source, works, owners, clock, log, counters, wake, held } = settings;
  const renewMs = settings.leaseMs / limits.renewalsPerLease;
  // Consumers that read a table together belong on the same node; others are spread, each by itself.
  const group = source.shared ? subscription.table.name : subscription.name;
  const tasks = new Map<string, Task>();
  let shards: readonly Shard[] = [];
  let listedAtMs: number | undefined;
  let sharedAtMs = clock.now(); // when it last took its share

  function startTask(lease: Lease, work: (signal: AbortSignal) => Promise<boolean>): void {
    const stop = followSignal(signal);
    const ended = keepTrying(lease, work, stop.signal).then(() => {
      stop.unfollow();
      tasks.delete(lease.key);
      held.delete(lease.key);
      wake.notify();
    });
    tasks.set(lease.key, { lease, stop, ended });
    held.add(lease.key);
  }

  // Anything but the loss of the lease is tried again from the last checkpoint, for as long as the lease holds.
  async function keepTrying(
    lease: Lease,
    work: (signal: AbortSignal) => Promise<boolean>,
    stopped: AbortSignal,
  ): Promise<void> {
    let failures = 0;
    let reached = lease.sequence;
    while (!stopped.aborted) {
      try {
        if (await work(stopped)) return;
      } catch (error) {
        if (error instanceof LeaseLostError) return noteLoss(lease, error);
        failures = reached === lease.sequence ? failures + 1 : 1;
        reached = lease.sequence;
        counters.failures += 1;
        log.error({ err: error, work: lease.key, failures }, 'work failed, trying again');
        const fullMs = delayMs(failures, settings.random);
        const waitMs = isUnavailable(error) ? Math.min(limits.unavailableMostMs, fullMs) : fullMs;
        await clock.sleep(waitMs, stopped).catch(() => {});
      }
    }
    if (stopped.reason instanceof LeaseLostError) noteLoss(lease, stopped.reason);
    else await giveBack(lease);
  }

  function noteLoss(lease: Lease, error: LeaseLostError): void {
    counters.leasesLost += 1;
    log.warn({ err: error, work: lease.key }, 'work lost');
  }

  async function giveBack(lease: Lease): Promise<void> {
    try {
      await works.release(lease);
    } catch (error) {
      if (error instanceof LeaseLostError) noteLoss(lease, error);
      // It will run out by itself.
      else log.warn({ err: error, work: lease.key }, 'lease not given back');
    }
  }

  async function renew({ lease, stop }: Task): Promise<void> {
    try {
      await works.renew(lease);
    } catch (error) {
      if (error instanceof LeaseLostError) stop.abort(error);
      else log.warn({ err: error, work: lease.key }, 'lease not renewed');
    }
  }

  async function join(): Promise<void> {
    await works.join().catch(error => log.warn({ err: error }, 'consumer could not tell that it is alive'));
  }

  // Each by itself: an answer that does not come for as long as a lease lasts would else end all of them.
  const underWay = new Map<Lease | 'member', Promise<void>>();
  function beat(): void {
    const begin = (what: Lease | 'member', write: () => Promise<void>) => {
      if (!underWay.has(what))
        underWay.set(
          what,
          write().finally(() => underWay.delete(what)),
        );
    };
    // One that cannot see what there is to do would keep its share from others.
    if (clock.now() - sharedAtMs < limits.absentLooks * lookMs()) begin('member', join);
    for (const task of tasks.values()) begin(task.lease, () => renew(task));
  }

  async function refreshShards(state: State): Promise<void> {
    if (settings.isElsewhere) return;
    const isOld = listedAtMs === undefined || clock.now() - listedAtMs >= limits.discoverMs;
    // A shard that was open when we looked has come to its end, here or in another process: it has children.
    const isOutdated = shards.some(
      ({ key, isOpen }) => isOpen && state.works.get(key)?.finishedAt !== undefined,
    );
    if (!isOld && !isOutdated && shards.length > 0) return;
    listedAtMs = clock.now();
    shards = await listShards(source, subscription.table.name);
  }

  async function shareWork(): Promise<void> {
    const state = await works.read();
    const gone = await forgetGone(state, owners);
    await refreshShards(state);
    const mine = new Set(tasks.keys());
    const nodes = new Set([...state.members.values()].filter(node => node !== undefined));
    const { node } = works;
    const plan = planWork({ shards, works: state.works, group, nodes, node, mine, nowMs: clock.now() });
    for (const key of plan.giveBack) tasks.get(key)?.stop.abort();
    for (const shard of plan.take) {
      if (signal.aborted) return;
      const lease = await works.acquire(shard.key, shard, gone.get(shard.key));
      if (!lease) continue;
      const ofShard = Object.assign(lease, { streamArn: shard.streamArn, shardId: shard.shardId });
      startTask(ofShard, stopped => consumeShard(settings, ofShard, begun.startOf(ofShard), stopped));
    }
    const redrive = state.works.get(redriveKey);
    if (
      redrive &&
      redrive.finishedAt === undefined &&
      !mine.has(redriveKey) &&
      isFree(redrive, clock.now())
    ) {
      const lease = await works.acquire(redriveKey, undefined, gone.get(redriveKey));
      if (lease) startTask(lease, stopped => redriveLetters(settings, lease, stopped));
    }
  }

  await works.join();
  const begun = await beginConsumer(settings);
  const settledAtMs = clock.now() + limits.settlingMs;
  const lookMs = (): number =>
    owners.canTell && clock.now() >= settledAtMs ? limits.lookOfKnownMs : limits.lookMs;
  const beating = repeat(clock, signal, renewMs, beat);
  const stopHearing = owners.onGone(wake.notify);
  while (!signal.aborted) {
    try {
      await shareWork();
      sharedAtMs = clock.now();
    } catch (error) {
      counters.failures += 1;
      log.error({ err: error }, 'consumer could not share the work');
    }
    await wake.wait(Math.min(renewMs, lookMs()), signal);
  }
  stopHearing();
  await Promise.all([...tasks.values()].map(task => task.ended));
  await beating;
  await Promise.all(underWay.values());
  await works.leave().catch(error => log.warn({ err: error }, 'consumer could not say that it leaves'));
}

// Takes those who are known to be dead out of the state, and tells whose work is free by that.
async function forgetGone(state: State, owners: Owners): Promise<Map<string, string>> {
  const gone = new Map<string, string>();
  if (!owners.canTell) return gone;
  for (const member of state.members.keys()) if (await owners.isGone(member)) state.members.delete(member);
  for (const work of state.works.values()) {
    if (work.owner === undefined || !(await owners.isGone(work.owner))) continue;
    gone.set(work.key, work.owner);
    state.works.set(work.key, { ...work, leaseUntilMs: 0 });
  }
  return gone;
}

async function repeat(
  clock: Clock,
  signal: AbortSignal,
  intervalMs: number,
  work: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal).catch(() => {});
    if (!signal.aborted) work();
  }
}
