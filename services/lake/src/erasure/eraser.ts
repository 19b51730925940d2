import { createHash } from 'node:crypto';
import type { Logger } from '@stak/kit';
import { type LagDeps, readLag } from '../capture/lag.ts';
import type { RewriteDeps } from '../compaction/rewrite-files.ts';
import type { LakeTable } from '../lake-table.ts';
import * as limits from '../limits.ts';
import type { ObjectStore } from '../storage/objects.ts';
import type { Requests } from '../storage/requests.ts';
import type { Owner } from '../tables.ts';
import { type Erased, type Erasure, eraseOwner } from './erasure.ts';

type EraserDeps = RewriteDeps &
  LagDeps & {
    lakeTables: readonly LakeTable[];
    objects: ObjectStore;
    log: Logger;
  };

type Reminder = { owner: Owner; due_at: number };

const folder = 'erasures/';

// Services erase their tables one after the other, some after the lake. Each removal arrives through the stream with
// the old image of the item, so a second pass, an hour later, erases what has arrived since.
export function createEraser(deps: EraserDeps) {
  const { lakeTables, objects, clock } = deps;

  const eraseFirst = (owner: Owner): Promise<Erased> => eraseEverywhere({ owner, isSecondLook: false });

  // For an account that no longer wants texts. New captures contain none, so one pass is enough.
  async function eraseTexts(owners: readonly Owner[]): Promise<Erased> {
    for (const lakeTable of lakeTables)
      for (const owner of lakeTable.plan.texts.size > 0 ? owners : [])
        if ((await eraseOwner(lakeTable, deps, { owner, isSecondLook: false, isOfTexts: true })) === 'more')
          return 'more';
    return 'done';
  }

  async function eraseEverywhere(erasure: Erasure): Promise<Erased> {
    for (const lakeTable of lakeTables)
      if ((await eraseOwner(lakeTable, deps, erasure)) === 'more') return 'more';
    return 'done';
  }

  // Removals before this moment may not have been captured yet.
  async function isBehind(atMs: number): Promise<boolean> {
    for (const { plan, manifest } of lakeTables) {
      const { as_of } = await readLag(deps, plan.table.name, await manifest.read());
      if (Date.parse(as_of) < atMs) return true;
    }
    return false;
  }

  // Runs one second pass that is due. True if there may be another one.
  async function eraseAgain(): Promise<boolean> {
    for await (const { key } of objects.list(folder)) {
      const body = await objects.get(key);
      if (!body) continue;
      const { owner, due_at } = JSON.parse(Buffer.from(body).toString('utf8')) as Reminder;
      if (due_at > clock.now() || (await isBehind(due_at))) continue;
      if ((await eraseEverywhere({ owner, isSecondLook: true })) === 'done') await objects.delete(key);
      return true;
    }
    return false;
  }

  return {
    eraser: eraserOf(async owner => {
      await remind(deps, owner);
      return eraseFirst(owner);
    }),
    eraseFirst,
    eraseTexts,
    eraseAgain,
  };
}

// For a reader: stores a request for the maintenance, which runs elsewhere, and waits a moment for it.
export const createRequestingEraser = (
  deps: Pick<EraserDeps, 'objects' | 'clock'> & { requests: Requests },
) =>
  eraserOf(async owner => {
    await remind(deps, owner);
    return (await deps.requests.askAndWait({ kind: 'erase', owner })) ? 'done' : 'more';
  });

const eraserOf = (erase: (owner: Owner) => Promise<Erased>) => ({
  name: 'lake',
  eraseAccount: (accountId: string) => erase({ account_id: accountId }),
  eraseTenant: (tenantId: string) => erase({ tenant_id: tenantId }),
  eraseUser: (tenantId: string, userId: string) => erase({ tenant_id: tenantId, user_id: userId }),
});

async function remind(
  { objects, clock }: Pick<EraserDeps, 'objects' | 'clock'>,
  owner: Owner,
): Promise<void> {
  const reminder: Reminder = { owner, due_at: clock.now() + limits.eraseAgainMs };
  const name = createHash('sha256').update(JSON.stringify(owner)).digest('hex');
  await objects.put(`${folder}${name}.json`, Buffer.from(JSON.stringify(reminder)));
}
