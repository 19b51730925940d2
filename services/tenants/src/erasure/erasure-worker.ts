import { createNotifier, type Owners, sharedPollMs, type Worker, watchGone } from '@stak/kit';
import { isMalformed, isRefused, isUnavailable, type WriteStep, write } from '@stak/table';
import { type Service, timestampOf } from '../deps.ts';
import * as limits from '../limits.ts';
import { erasure, openErasure, openErasures, tenant } from '../tables.ts';
import type { Erased, Eraser } from './erasers.ts';
import { type ErasureItem, ownStep } from './erasures.ts';

type Deps = Service & { ownEraser: Eraser; owners: Owners };

const name = 'tenants-erasures';

export const createErasureWorker = (deps: Deps): Worker => ({
  name,
  async run(signal) {
    const notifier = createNotifier(deps.clock);
    const gone = watchGone(deps.owners, notifier.notify);
    try {
      while (!signal.aborted)
        if ((await workOnErasures(deps, signal)) === 'done')
          await notifier.wait(sharedPollMs(deps.owners, name, limits.erasurePollMs), signal);
    } finally {
      gone.stop();
    }
  },
});

// Does some work on every due job. `done` means that none is due any more.
async function workOnErasures(deps: Deps, signal?: AbortSignal): Promise<Erased> {
  let answer: Erased = 'done';
  for await (const pointer of deps.store.all(openErasures, {})) {
    if (signal?.aborted) break;
    if ((await continueErasure(deps, pointer, signal)) === 'more') answer = 'more';
  }
  return answer;
}

type Pointer = { tenant_id: string; erasure_id: string };

async function continueErasure(deps: Deps, pointer: Pointer, signal?: AbortSignal): Promise<Erased> {
  try {
    const job = await claim(deps, pointer);
    return job ? await workOnce(deps, job, signal) : 'done';
  } catch (error) {
    // One that another program wrote must not stop the others.
    if (!isMalformed(error)) throw error;
    deps.log.error({ err: error, ...pointer }, 'an erasure cannot be continued');
    return 'done';
  }
}

// The first to move `due_at` owns the job until then, or until it is known to be gone.
async function claim({ store, clock, owners }: Deps, pointer: Pointer): Promise<ErasureItem | undefined> {
  const nowMs = clock.now();
  const found = await store.get(erasure, pointer, { consistent: true });
  // The deletion of the whole tenant has removed the job of one of its users.
  if (!found) await store.delete(openErasure, pointer);
  if (!found) return undefined;
  const isLeft = found.owner !== undefined && (await owners.isGone(found.owner));
  if (found.due_at > nowMs && !isLeft) return undefined;
  return unlessLost(() =>
    store.update(
      erasure,
      pointer,
      { set: { status: 'running', due_at: nowMs + limits.erasureLeaseMs, owner: owners.next() } },
      { ifVersion: found.version },
    ),
  );
}

// Undefined if another process owns the job by now: erasing is repeatable, so nothing is lost.
async function unlessLost<T>(step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
}

async function workOnce(deps: Deps, claimed: ErasureItem, signal?: AbortSignal): Promise<Erased> {
  let job: ErasureItem | undefined = claimed;
  try {
    for (let calls = 0; job; calls++) {
      const step = nextStep(deps, job);
      if (step === undefined) {
        await finish(deps, job);
        return 'done';
      }
      if (calls === limits.erasureCalls || signal?.aborted) {
        await giveBack(deps, job, { due_at: deps.clock.now() });
        return 'more';
      }
      const erased = await callEraser(deps, job, step);
      job = await save(deps, job, {
        steps: job.steps.includes(step) ? job.steps : [step, ...job.steps],
        steps_done: erased === 'done' ? [...job.steps_done, step] : job.steps_done,
        due_at: deps.clock.now() + limits.erasureLeaseMs,
        failures: 0,
      });
    }
    return 'done';
  } catch (error) {
    await postpone(deps, job!, error);
    return 'done';
  }
}

type Progress = Partial<Pick<ErasureItem, 'steps' | 'steps_done' | 'due_at' | 'failures'>>;

const save = ({ store }: Deps, job: ErasureItem, set: Progress): Promise<ErasureItem | undefined> =>
  unlessLost(() =>
    store.update(erasure, job, { set }, { ifVersion: job.version, pattern: 'erasure progress' }),
  );

// Any process may continue it when it is due.
const giveBack = ({ store }: Deps, job: ErasureItem, set: Progress): Promise<unknown> =>
  unlessLost(() =>
    store.update(
      erasure,
      job,
      { set, remove: ['owner'] },
      { ifVersion: job.version, pattern: 'erasure progress' },
    ),
  );

const isConcerned = ({ subject }: ErasureItem, one: Eraser): boolean =>
  (subject === 'tenant' ? one.eraseTenant : one.eraseUser) !== undefined;

// Services added since the job was created erase as well; those that existed then must exist again.
function nextStep({ erasers }: Deps, job: ErasureItem): string | undefined {
  const came = erasers().filter(one => isConcerned(job, one));
  const names = [...came.map(({ name }) => name), ...job.steps].filter(name => name !== ownStep);
  return [...names, ownStep].find(name => !job.steps_done.includes(name));
}

async function callEraser(deps: Deps, job: ErasureItem, step: string): Promise<Erased> {
  const eraser = step === ownStep ? deps.ownEraser : deps.erasers().find(({ name }) => name === step);
  const { tenant_id, user_id } = job;
  if (user_id === undefined && eraser?.eraseTenant) return eraser.eraseTenant(tenant_id);
  if (user_id !== undefined && eraser?.eraseUser) return eraser.eraseUser(tenant_id, user_id);
  throw new Error(`The service "${step}" does not run here, so its data cannot be erased`);
}

// Only the fact that the tenant existed is kept.
async function finish({ store, clock, log }: Deps, job: ErasureItem): Promise<void> {
  const nowMs = clock.now();
  const { tenant_id, erasure_id, version } = job;
  const ttl = Math.floor(nowMs / 1000) + limits.erasureRecordDays * 24 * 60 * 60;
  const done = { status: 'done' as const, finished_at: timestampOf(nowMs), ttl };
  const steps: Record<string, WriteStep> = {
    'the job is done': write.update(erasure, job, { set: done, remove: ['owner'] }, { ifVersion: version }),
    'no longer open': write.delete(openErasure, { erasure_id }),
  };
  if (job.subject === 'tenant')
    steps['leave a tombstone'] = write.update(
      tenant,
      { tenant_id },
      { set: { name: '', settings: '{}' }, remove: ['tokens_revoked_at', 'request_key'] },
    );
  await unlessLost(() => store.transact(steps, { pattern: 'finish an erasure' }));
  log.info({ tenant_id, erasure_id, subject: job.subject }, 'erased');
}

async function postpone(deps: Deps, job: ErasureItem, error: unknown): Promise<void> {
  const { tenant_id, erasure_id } = job;
  // A store that throttles or is unavailable does not delay the next try.
  const failures = job.failures + (isUnavailable(error) ? 0 : 1);
  const delayMs = Math.min(limits.erasureBackoffMostMs, limits.erasureBackoffMs * Math.max(1, failures));
  deps.log.error({ err: error, tenant_id, erasure_id, failures, delayMs }, 'an erasure failed, trying later');
  await giveBack(deps, job, { failures, due_at: deps.clock.now() + delayMs });
}
