import { ignoreConflict, isConflict } from '@stak/table';
import type { Deps } from '../deps.ts';
import * as limits from '../limits.ts';

// A deletion in the background, of an inbox or of a category. It is leased like a send: a worker that lost its lease
// writes nothing. It is finished when nothing has been found for a while, because requests that were running when it
// began may still write.

type Job = { erased: number; dueat?: number; fence?: string; quietat?: number };
type Guard = Pick<Job, 'dueat' | 'fence'>;
type Range = { after?: { dueat: number }; to: { dueat: number } };

export type ErasureKind<Key extends object, J extends Job> = {
  what: string; // for the log
  listDue(deps: Deps, range: Range, limit?: number): AsyncIterable<Key>;
  read(deps: Deps, key: Key): Promise<J | undefined>;
  update(deps: Deps, key: Key, guard: Guard, set: Partial<Job>): Promise<J>;
  run(deps: Deps, key: Key, job: J & { fence: string }, signal?: AbortSignal): Promise<void>;
};

/** Continues every deletion that is due. */
export async function runDueErasures<Key extends object, J extends Job>(
  deps: Deps,
  kind: ErasureKind<Key, J>,
  signal?: AbortSignal,
): Promise<void> {
  const keys: Key[] = [];
  for await (const key of kind.listDue(deps, { to: { dueat: deps.clock.now() } }, limits.dueSends))
    keys.push(key);
  for (const key of keys) {
    if (signal?.aborted) return;
    await runErasure(deps, kind, key, signal).catch(error => {
      if (!isConflict(error)) deps.log.error({ err: error, key }, `could not continue deleting ${kind.what}`);
    });
  }
}

async function runErasure<Key extends object, J extends Job>(
  deps: Deps,
  kind: ErasureKind<Key, J>,
  key: Key,
  signal?: AbortSignal,
): Promise<void> {
  const found = await kind.read(deps, key);
  if (found?.dueat === undefined || found.dueat > deps.clock.now()) return;
  const fence = deps.owners.next();
  const job = await kind.update(deps, key, { dueat: found.dueat }, { fence, dueat: leaseEnd(deps) });
  await kind.run(deps, key, { ...job, fence }, signal);
}

/** Makes deletions due whose worker is gone. */
export async function releaseGoneErasures<Key extends object, J extends Job>(
  deps: Deps,
  kind: ErasureKind<Key, J>,
): Promise<void> {
  const nowMs = deps.clock.now();
  const range = { after: { dueat: nowMs }, to: { dueat: nowMs + limits.leaseMs } };
  for await (const key of kind.listDue(deps, range)) {
    const fence = (await kind.read(deps, key))?.fence;
    if (fence !== undefined && (await deps.owners.isGone(fence)))
      await kind.update(deps, key, { fence }, { dueat: nowMs }).catch(ignoreConflict);
  }
}

export const leaseEnd = ({ clock }: Deps): number => clock.now() + limits.leaseMs;

/** Whether nothing has been found for long enough. */
export const isQuiet = ({ clock }: Deps, { quietat }: Job): boolean =>
  quietat !== undefined && clock.now() >= quietat + limits.quietMs;

/** Since when nothing is found: from now on, if something was. */
export const quietSince = ({ clock }: Deps, { quietat }: Job, found: number): number =>
  found > 0 ? clock.now() : (quietat ?? clock.now());

/** Makes the record of a job that is done. */
export const finishedJob = ({ clock }: Deps) => {
  const finishedat = Math.floor(clock.now() / 1000);
  return {
    set: { status: 'erased', finishedat, expiredat: finishedat + limits.erasureKeptS },
    remove: ['shard', 'dueat', 'fence', 'quietat'],
  } as const;
};
