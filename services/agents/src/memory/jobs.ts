import { cutText, inSpan } from '@stak/kit';
import {
  failedCondition,
  type ItemOf,
  is,
  isRefused,
  isUnavailable,
  type NamedStep,
  or,
  write,
} from '@stak/table';
import { tenantErrors, tenantUser } from '@stak/tenants';
import { type Base, type EnteredTenant, type ModelDeps, type Service, timestampOf } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { state, turnsOfConversation } from '../main-table.ts';
import { openBudget } from '../models/budget.ts';
import { turnPrincipal } from '../state/access.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueAt,
  dueWhenFree,
  keyOfConversation,
  pauseAsSeen,
  readState,
  release,
} from '../state/lease.ts';
import { plainTurn, type TurnItem } from '../state/turn-items.ts';
import { readForgotten } from './forgotten.ts';
import { type Fact, factsOf, fitFacts, hasDeclined, type MemoryItem, newestFirst } from './memory.ts';
import { askForSummary, extractSummary, type KnownMemory, type Learnt, turnsThatFit } from './summaries.ts';
import { dueMemoryJobs, memoriesOfUser, memory, memoryChoice, memoryJob } from './tables.ts';
import { removeAllVectors, removeFactVectors, type ToEmbed, writeVectors } from './vectors.ts';

const textOfTurn = (item: TurnItem): string =>
  cutText(
    plainTurn(item)
      .map(({ content }) => content)
      .join('\n'),
    limits.embeddedChars,
  );

type Job = ItemOf<typeof memoryJob>;

// A conversation has been quiet for a while, or its oldest turns leave the window: the turns since the last summary
// become a job. The model is called without the lease, so that returning users do not wait for it.
export async function noteTurns(
  service: Pick<Service, 'store' | 'clock' | 'dueShards' | 'notifier' | 'memoryNotifier'>,
  held: ConversationLease,
): Promise<void> {
  const nowMs = service.clock.now();
  const { user_id, epoch, last_seq, noted_seq = last_seq, waiting_count } = held.state;
  const key = keyOfConversation(held.key);
  const isNothing =
    user_id === undefined || noted_seq >= last_seq || (await hasDeclined(service, { ...key, user_id }));
  const settle = write.update(
    state,
    key,
    {
      set: {
        noted_seq: last_seq,
        ...dueAt(service, key, dueWhenFree({ ...held.state, quiet_at: undefined }, nowMs)),
      },
      remove: ['fence', 'leased_until', 'attempts', 'quiet_at'],
    },
    { if: { fence: held.fence, epoch, waiting_count, last_seq, ...pauseAsSeen(held.state) } },
  );
  const job = {
    ...key,
    user_id: user_id!,
    epoch,
    from_seq: noted_seq + 1,
    to_seq: last_seq,
    attempts: 0,
    ...dueAt(service, key, nowMs),
  };
  const added: NamedStep[] = isNothing ? [] : [['the job', write.put(memoryJob, job, { ifAbsent: true })]];
  try {
    await service.store.transact([['the state', settle], ...added], { pattern: 'note turns' });
  } catch (error) {
    if (!isRefused(error)) throw error;
    // The last summary is still in progress, or something came in the meantime, which sets its own time.
    const isBusy = failedCondition(error, 'the job') !== undefined;
    return release(
      service,
      held,
      current => dueWhenFree({ ...current, quiet_at: nowMs }, nowMs) + (isBusy ? limits.memoryRetryMs : 0),
    );
  }
  held.isReleased = true;
  service.memoryNotifier.notify();
}

export async function findDueJobs(
  service: Pick<Service, 'store' | 'clock' | 'dueShards'>,
): Promise<ConversationKey[]> {
  const range = { to: { due_at: service.clock.now() }, limit: limits.dueTogether };
  const pages = await Promise.all(
    service.dueShards.all().map(due_lane => service.store.query(dueMemoryJobs, { due_lane }, range)),
  );
  return pages.flatMap(page => page.items.map(keyOfConversation));
}

// Makes the jobs of a dead process due at once, instead of when their leases end.
export async function releaseGoneJobs(
  service: Pick<Service, 'store' | 'clock' | 'owners' | 'dueShards'>,
): Promise<void> {
  const nowMs = service.clock.now();
  const range = { after: { due_at: nowMs }, to: { due_at: nowMs + limits.memoryLeaseMs } };
  for (const due_lane of service.dueShards.all())
    for await (const { tenant_id, conversation_id } of service.store.all(
      dueMemoryJobs,
      { due_lane },
      range,
    )) {
      const key = { tenant_id, conversation_id };
      const known = await service.store.get(memoryJob, key, { consistent: true });
      if (known?.fence === undefined || !(await service.owners.isGone(known.fence))) continue;
      const change = { set: dueAt(service, key, nowMs), remove: ['fence', 'leased_until'] as const };
      await service.store
        .update(memoryJob, key, change, { if: { fence: known.fence }, pattern: 'take over a summary' })
        .catch(ifLost);
    }
}

// Exactly once: the job is deleted, or continued with the next turns, in the transaction that stores its results. If a
// process dies, another one runs the job.
export async function runMemoryJob(
  service: Base & ModelDeps & Pick<Service, 'owners' | 'dueShards' | 'sealer' | 'enterTenant'>,
  key: ConversationKey,
  stopping: AbortSignal,
): Promise<void> {
  const job = await claim(service, key);
  if (!job) return;
  const over = new AbortController();
  const late = new AbortController();
  service.clock.sleep(limits.stallMs, over.signal).then(
    () => late.abort(new Error(`A summary took longer than ${limits.stallMs} ms`)),
    () => {},
  );
  // A server that stops does not wait for a model: the job is put back, and is no failed attempt.
  const signal = AbortSignal.any([late.signal, stopping]);
  try {
    const attributes = { 'gen_ai.conversation.id': key.conversation_id };
    await inSpan('summarise conversation', { attributes }, () => remember(service, job, signal));
  } catch (error) {
    service.log.warn({ err: error, ...key }, 'a conversation was not summarised');
    const retryMs = service.clock.now() + limits.memoryRetryMs * job.attempts;
    // A throttled or unavailable store does not count as a failed attempt, nor does a server that stops.
    const isCounted = !isUnavailable(error) && !stopping.aborted;
    const attempts = job.attempts - (isCounted ? 0 : 1);
    const set = { attempts, ...dueAt(service, key, retryMs) };
    const change = { set, remove: ['fence', 'leased_until'] as const };
    await service.store
      .update(memoryJob, key, change, { if: { fence: job.fence }, pattern: 'put off a summary' })
      .catch(ifLost);
  } finally {
    over.abort('over');
  }
}

const ifLost = (error: unknown): void => {
  if (!isRefused(error)) throw error;
};

async function claim(
  service: Pick<Service, 'store' | 'clock' | 'owners' | 'dueShards'>,
  key: ConversationKey,
): Promise<Job | undefined> {
  const nowMs = service.clock.now();
  const known = await service.store.get(memoryJob, key, { consistent: true });
  if (!known || known.due_at > nowMs) return undefined;
  const leased_until = Math.floor(nowMs + limits.memoryLeaseMs);
  const attempts = known.attempts + 1;
  const due = dueAt(service, key, leased_until);
  const set = { fence: service.owners.next(), leased_until, attempts, ...due };
  const isFree = or({ fence: is.absent }, { leased_until: is.below(nowMs) });
  try {
    return await service.store.update(memoryJob, key, { set }, { if: isFree, pattern: 'claim a summary' });
  } catch (error) {
    ifLost(error);
    return undefined;
  }
}

const drop = (service: Pick<Service, 'store'>, job: Job): Promise<unknown> =>
  service.store.delete(memoryJob, job, { if: { fence: job.fence } }).catch(ifLost);

async function remember(
  service: Base & ModelDeps & Pick<Service, 'dueShards' | 'sealer' | 'enterTenant'>,
  job: Job,
  signal: AbortSignal,
): Promise<void> {
  const { tenant_id, user_id, conversation_id } = job;
  const known = await readState(service, job);
  if (known?.epoch !== job.epoch) return void (await drop(service, job));
  if (await hasDeclined(service, job)) {
    await removeAllVectors(service, job); // an earlier attempt may have written some
    return void (await drop(service, job));
  }
  let tenant: EnteredTenant;
  try {
    tenant = await service.enterTenant(turnPrincipal(tenant_id, user_id), tenant_id);
  } catch (error) {
    if (!tenantErrors.includes(error)) throw error;
    return void (await drop(service, job)); // suspended or deleted since
  }
  const [turns, items, user] = await Promise.all([
    readTurnsOf(service, job),
    service.store.query(memoriesOfUser, { tenant_id, user_id }, { limit: limits.memorySessions * 2 }),
    service.store.get(tenantUser, { tenant_id, user_id }, { consistent: true }),
  ]);
  const session = items.items.find(({ session_id }) => session_id === conversation_id);
  const before: KnownMemory = { items: items.items, session, about: user?.memory_summary };
  const forgotten = await readForgotten(service, job);
  const told = turns.filter(item => !forgotten.hasTurn(item));
  const learnt = await learn(service, tenant, job, told, before, signal);
  const isAboutOurs = user !== undefined && user.memory_edited_at === undefined;
  const { steps: changes, added, replaced } = rememberSteps(service, job, turns, before, learnt);
  const steps = [forgotten.unchanged, ...changes];
  await embed(service, tenant, job, told, added, signal);
  const about = isAboutOurs && learnt.about !== undefined && learnt.about !== user.memory_summary;
  const aboutStep: NamedStep = [
    'the user',
    write.update(
      tenantUser,
      { tenant_id, user_id },
      { set: { memory_summary: learnt.about, memory_updated_at: timestampOf(service.clock.now()) } },
      { if: { memory_edited_at: is.absent, memory_updated_at: user?.memory_updated_at ?? is.absent } },
    ),
  ];
  try {
    await service.store.transact(about ? [...steps, aboutStep] : steps, {
      pattern: 'remember a conversation',
    });
  } catch (error) {
    // The summary of the user was changed first; the rest of the results counts all the same.
    if (!failedCondition(error, 'the user')) throw error;
    await service.store.transact(steps, { pattern: 'remember a conversation' });
  }
  await removeFactVectors(service, job, replaced);
}

// Before the transaction, so that after a crash in between the job is repeated. Without vectors, texts are found by
// their words.
async function embed(
  service: Base & ModelDeps,
  tenant: EnteredTenant,
  job: Job,
  turns: readonly TurnItem[],
  facts: readonly Fact[],
  signal: AbortSignal,
): Promise<void> {
  if (!service.models?.embedding) return;
  const { conversation_id, epoch } = job;
  const items: ToEmbed[] = [
    ...turns.map(item => ({
      kind: 'turn' as const,
      conversation_id,
      epoch,
      seq: item.seq,
      text: textOfTurn(item),
    })),
    ...facts.map(({ fact_id, fact }) => ({ kind: 'fact' as const, fact_id, text: fact })),
  ].filter(({ text }) => text !== '');
  const budget = await openBudget(service, tenant, job.user_id);
  try {
    await writeVectors(service, job, items, budget, signal);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    service.log.warn({ err: error, ...keyOfConversation(job) }, 'turns were not embedded');
  } finally {
    await budget.settle();
  }
}

async function learn(
  service: Base & ModelDeps,
  tenant: EnteredTenant,
  job: Job,
  turns: readonly TurnItem[],
  known: KnownMemory,
  signal: AbortSignal,
): Promise<Learnt> {
  if (turns.length === 0) return { summary: undefined, about: undefined, facts: [] };
  try {
    const learnt = await askForSummary(service, tenant, job, turns, known, signal);
    if (learnt) return learnt;
  } catch (error) {
    // A model that failed may work in a minute. An exhausted budget will not.
    const isFailure = agentErrors.includes(error) && error.code === 'agents.model_failed';
    if (!agentErrors.includes(error) || (isFailure && job.attempts < limits.memoryAttempts)) throw error;
  }
  return extractSummary(turns, known);
}

async function readTurnsOf({ store }: Pick<Service, 'store'>, job: Job): Promise<TurnItem[]> {
  const { epoch, from_seq, to_seq } = job;
  const { items } = await store.query(
    turnsOfConversation,
    { ...keyOfConversation(job), epoch },
    { from: { seq: from_seq }, to: { seq: to_seq }, limit: limits.summarizedTurns },
  );
  return turnsThatFit(items);
}

// Turns that did not fit are next.
function settleJob(
  service: Pick<Service, 'clock' | 'dueShards'>,
  job: Job,
  turns: readonly TurnItem[],
): NamedStep[1] {
  const key = keyOfConversation(job);
  const asHeld = { if: { fence: job.fence } };
  const { seq = job.to_seq } = turns.at(-1) ?? {};
  if (seq >= job.to_seq) return write.delete(memoryJob, key, asHeld);
  const next = { from_seq: seq + 1, attempts: 0, ...dueAt(service, key, service.clock.now()) };
  return write.update(memoryJob, key, { set: next, remove: ['fence', 'leased_until'] }, asHeld);
}

function rememberSteps(
  service: Pick<Service, 'clock' | 'ids' | 'dueShards'>,
  job: Job,
  turns: readonly TurnItem[],
  known: KnownMemory,
  learnt: Learnt,
) {
  const { tenant_id, user_id, conversation_id, epoch } = job;
  const at = timestampOf(service.clock.now());
  const replaced = new Set(learnt.facts.flatMap(({ replaces }) => replaces.map(({ fact_id }) => fact_id)));
  const isKept = ({ fact_id }: { fact_id: string }) => !replaced.has(fact_id);
  const added = learnt.facts.map(({ fact, seq, replaces: [old] }) => ({
    fact_id: service.ids.next('fact'),
    fact,
    created_at: at,
    source: 'conversation',
    seq,
    ...(old && { supersedes: old.fact }),
  }));
  const all = [...(known.session ? factsOf(known.session).filter(isKept) : []), ...added];
  const [facts, dropped] = fitFacts(all);
  const summary = learnt.summary ?? known.session?.summary;
  const isNew = !known.session && (summary !== undefined || facts.length > 0);
  const others = known.items.filter(item => item !== known.session);
  const tooMany = isNew && others.length >= limits.memorySessions ? oldest(others) : undefined;
  const changed = others.filter(item => item !== tooMany && !factsOf(item).every(isKept));
  const steps: NamedStep[] = [
    ['the choice', write.check(memoryChoice, { tenant_id, user_id }, { absent: true })],
    ['the state', write.check(state, keyOfConversation(job), { present: true, if: { epoch } })],
    ['the job', settleJob(service, job, turns)],
    ...(known.session || isNew
      ? [
          named(
            putMemory(
              known.session,
              {
                ...{ tenant_id, user_id, session_id: conversation_id },
                ...{ created_at: at, ...known.session, updated_at: at, summary },
              },
              facts,
            ),
            conversation_id,
          ),
        ]
      : []),
    ...changed.map(item => named(putMemory(item, item, factsOf(item).filter(isKept)), item.session_id)),
    ...(tooMany
      ? [named(write.delete(memory, tooMany, { ifVersion: tooMany.version }), tooMany.session_id)]
      : []),
  ];
  return { steps, added, replaced: [...learnt.facts.flatMap(({ replaces }) => replaces), ...dropped] };
}

const named = (step: NamedStep[1], session_id: string): NamedStep => [`the memory of ${session_id}`, step];

function putMemory(
  before: MemoryItem | undefined,
  item: Omit<MemoryItem, 'key_facts' | 'version'>,
  facts: ReturnType<typeof factsOf>,
): NamedStep[1] {
  if (before && item.summary === undefined && facts.length === 0)
    return write.delete(memory, before, { ifVersion: before.version });
  const asRead = before ? { ifVersion: before.version } : ({ ifAbsent: true } as const);
  return write.put(memory, { ...item, key_facts: JSON.stringify(facts) }, asRead);
}

// One without facts, if there is one.
const oldest = (items: readonly MemoryItem[]): MemoryItem => {
  const byAge = newestFirst(items).toReversed();
  return byAge.find(item => factsOf(item).length === 0) ?? byAge[0]!;
};
