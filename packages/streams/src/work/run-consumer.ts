import type { Clock, Notifier, Owners } from '@stak/kit';
import * as limits from '../limits.ts';
import { listShards, type Shard } from '../source/shards.ts';
import { createLeasedTasks, type LeasedTasks } from './leased-tasks.ts';
import { redriveKey, redriveLetters } from './redrive.ts';
import { forgettable, isFree, planShards } from './shard-plan.ts';
import { consumeShard, type TaskDeps } from './shard-task.ts';
import { beginConsumer } from './start-position.ts';
import type { Lease, State } from './work-store.ts';

export type RunSettings = TaskDeps & {
  leaseMs: number;
  isElsewhere: boolean; // another process reads the stream: only dead letters are handled here
  wake: Notifier;
  held: Set<string>; // keys of the work that this process does
};

// Runs a consumer in this process until the signal is aborted: takes its share of the work, renews its leases, and
// releases everything at the end.
export async function runConsumer(settings: RunSettings, signal: AbortSignal): Promise<void> {
  const { works, owners, clock, log, counters, wake } = settings;
  const renewMs = settings.leaseMs / limits.renewalsPerLease;
  const tasks = createLeasedTasks({ ...settings, onEnd: wake.notify }, signal);

  await works.join();
  const begun = await beginConsumer(settings);
  const shareWork = createWorkSharing(settings, tasks, begun, signal);
  const settledAtMs = clock.now() + limits.settlingMs;
  let leastMs: number = limits.lookLeastMs;
  const lookMs = (): number =>
    Math.max(leastMs, owners.canDetect && clock.now() >= settledAtMs ? limits.lookOfKnownMs : limits.lookMs);
  let sharedAtMs = clock.now(); // when it last took its share
  // A consumer that is stopping, cannot read the state or cannot handle anything must not keep its share from others.
  const isPresent = () =>
    !signal.aborted && isAble(settings) && clock.now() - sharedAtMs < limits.absentLooks * lookMs();
  const heartbeat = createHeartbeat(settings, tasks, isPresent);
  const ended = new AbortController();
  const beating = repeat(clock, ended.signal, renewMs, heartbeat.beat);
  const stopHearing = owners.onGone(wake.notify);

  while (!signal.aborted) {
    let nextAtMs = Number.POSITIVE_INFINITY;
    try {
      const shared = await shareWork();
      nextAtMs = shared.nextAtMs;
      leastMs = Math.max(limits.lookLeastMs, limits.lookOfManyMs(shared.members));
      sharedAtMs = clock.now();
    } catch (error) {
      counters.failures += 1;
      log.error({ err: error }, 'the consumer could not take its share of the work');
    }
    await wake.wait(Math.max(leastMs, Math.min(renewMs, lookMs(), nextAtMs - clock.now())), signal);
  }

  stopHearing();
  await tasks.allEnded(); // their leases are renewed until then
  ended.abort();
  await beating;
  await heartbeat.settled();
  await works.leave().catch(error => log.warn({ err: error }, 'the consumer could not sign off'));
}

const isAble = ({ subscription }: RunSettings): boolean => subscription.isAble?.() ?? true;

// Renews the leases, and reports to the other processes that this one runs the consumer, or does not any more. The writes
// are independent: one that hangs must not cost the other leases. One that is due while the last is under way follows at
// once.
function createHeartbeat(
  { works, log }: RunSettings,
  tasks: LeasedTasks,
  isPresent: () => boolean,
): { beat(): void; settled(): Promise<void> } {
  const underWay = new Map<Lease | 'member', Promise<void>>();
  const overdue = new Set<Lease | 'member'>();
  const isNeeded = (what: Lease | 'member') =>
    what === 'member' ? works.isReportDue(isPresent()) : [...tasks.all()].some(({ lease }) => lease === what);
  const begin = (what: Lease | 'member', write: () => Promise<void>) => {
    if (underWay.has(what)) {
      overdue.add(what);
      return;
    }
    const writing = write().then(() => {
      underWay.delete(what);
      if (overdue.delete(what) && isNeeded(what)) begin(what, write);
    });
    underWay.set(what, writing);
  };
  const report = () =>
    (isPresent() ? works.join() : works.leave()).catch(error =>
      log.warn({ err: error }, 'the consumer could not report whether it runs here'),
    );
  return {
    beat() {
      if (isNeeded('member')) begin('member', report);
      for (const task of tasks.all()) begin(task.lease, () => tasks.renew(task));
    },
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

// Takes this process's share of the shards, and stops the tasks that are assigned to others. Returns when there may be
// something to take: when the first lease or report of another process ends, unless it is renewed, or soon.
function createWorkSharing(
  settings: RunSettings,
  tasks: LeasedTasks,
  begun: Awaited<ReturnType<typeof beginConsumer>>,
  signal: AbortSignal,
): () => Promise<{ nextAtMs: number; members: number }> {
  const { subscription, source, works, owners, clock } = settings;
  // Consumers that share reads of a table belong on the same node; others are spread one by one.
  const group = source.shared ? subscription.table.name : subscription.name;
  let shards: readonly Shard[] = [];
  let listedAtMs: number | undefined;
  let knownNodes = '';
  let movingUntilMs = 0;
  let wasAble = true;

  // A node that comes or goes moves shards between the others too: what one of them gives back, another one takes.
  function noteNodes(nodes: ReadonlySet<string>): void {
    const names = [...nodes].sort().join();
    const hasOthers = [...nodes].some(node => node !== works.node);
    if (names !== knownNodes && hasOthers) movingUntilMs = clock.now() + limits.movingMs;
    knownNodes = names;
  }

  // A shard that was listed as open has ended, here or in another process, so it has children.
  const isOutdated = ({ works: all }: State): boolean =>
    shards.some(({ key, isOpen }) => isOpen && all.get(key)?.finishedAt !== undefined);

  async function refreshShards(state: State): Promise<void> {
    if (settings.isElsewhere) return;
    const isOld = listedAtMs === undefined || clock.now() - listedAtMs >= limits.discoverMs;
    const hasEnd = isOutdated(state);
    if (!isOld && !hasEnd && shards.length > 0) return;
    listedAtMs = clock.now();
    const list = () => listShards(source, subscription.table.name);
    const sharedMs = hasEnd ? limits.endSharedMs : limits.listingSharedMs;
    shards = source.shared
      ? await source.shared.list(subscription.table.name, list, clock.now(), sharedMs)
      : await list();
    const finished = forgettable(shards, state.works, clock.now());
    if (finished.length > 0) await works.forget(finished);
  }

  async function takeShard(shard: Shard, goneOwner: string | undefined): Promise<void> {
    const lease = await works.acquire(shard.key, shard, goneOwner);
    if (!lease) return;
    const ofShard = Object.assign(lease, { streamArn: shard.streamArn, shardId: shard.shardId });
    tasks.start(ofShard, stopped => consumeShard(settings, ofShard, begun.startOf(ofShard), stopped));
  }

  async function takeRedrive({ works: all }: State, goneOwner: string | undefined): Promise<void> {
    const redrive = all.get(redriveKey);
    if (!redrive || redrive.finishedAt !== undefined || !isFree(redrive, clock.now(), works.owner)) return;
    const lease = await works.acquire(redriveKey, undefined, goneOwner);
    if (lease) tasks.start(lease, stopped => redriveLetters(settings, lease, stopped));
  }

  // Other processes assign no shard to one that is not a member. A report that was under way may arrive late, so the
  // state is looked at again each time.
  async function giveUp({ members }: State): Promise<number> {
    wasAble = false;
    for (const key of tasks.keys()) tasks.stop(key);
    if (members.has(works.owner)) await works.leave();
    return clock.now() + limits.lookMs;
  }

  // Others could take over at once what this process leases while it does not report itself.
  const isAlive = (): boolean => clock.now() < (owners.aliveUntilMs?.() ?? Number.POSITIVE_INFINITY);
  const mayTake = (): boolean => !signal.aborted && isAlive();

  async function shareWork(state: State): Promise<number> {
    if (!isAble(settings)) return giveUp(state);
    if (!wasAble) await works.join();
    wasAble = true;
    const gone = await forgetGone(state, owners);
    await refreshShards(state);
    const mine = tasks.keys();
    const nodes = new Set([...state.members.values()].flatMap(member => member.node ?? []));
    const { node } = works;
    noteNodes(nodes);
    const plan = planShards({
      shards,
      works: state.works,
      group,
      nodes,
      node,
      owner: works.owner,
      mine,
      nowMs: clock.now(),
    });
    for (const key of plan.giveBack) tasks.stop(key);
    for (const shard of plan.take) {
      if (!mayTake()) break;
      await takeShard(shard, gone.get(shard.key));
    }
    if (mayTake() && !mine.has(redriveKey)) await takeRedrive(state, gone.get(redriveKey));
    const nowMs = clock.now();
    if (!isAlive()) return nowMs + limits.lookMs;
    const whileMovingMs = nowMs < movingUntilMs ? nowMs + limits.lookWhileMovingMs : Number.POSITIVE_INFINITY;
    // A shared list may be from just before the end of a shard.
    const outdatedMs = isOutdated(state) ? nowMs + limits.endSharedMs : Number.POSITIVE_INFINITY;
    return Math.min(whileMovingMs, outdatedMs, firstEndMs(state, works.owner, nowMs));
  }

  return async () => {
    const state = await works.read();
    const members = state.members.size; // of which those that are gone are removed below
    return { members, nextAtMs: await shareWork(state) };
  };
}

function firstEndMs({ members, works }: State, owner: string, nowMs: number): number {
  const ofMembers = [...members].flatMap(([name, one]) => (name === owner ? [] : one.aliveUntilMs));
  const ofWorks = [...works.values()].flatMap(other =>
    other.owner === owner ? [] : (other.leaseUntilMs ?? []),
  );
  return Math.min(...[...ofMembers, ...ofWorks].filter(endMs => endMs > nowMs));
}

// Removes dead processes from the state. Returns the work that this freed, with its last owner.
async function forgetGone(state: State, owners: Owners): Promise<Map<string, string>> {
  const gone = new Map<string, string>();
  if (!owners.canDetect) return gone;
  const answers = new Map<string, boolean>();
  const isGone = async (owner: string): Promise<boolean> => {
    const answer = answers.get(owner) ?? (await owners.isGone(owner));
    answers.set(owner, answer);
    return answer;
  };
  for (const member of state.members.keys()) if (await isGone(member)) state.members.delete(member);
  for (const work of state.works.values()) {
    if (work.owner === undefined || !(await isGone(work.owner))) continue;
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
