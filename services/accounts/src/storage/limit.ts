import { type Clock, createRecentMap, type Logger } from '@stak/kit';
import { accountsErrors } from '../errors.ts';
import { type PlanName, publicPlans } from '../plans.ts';
import { nothingStored, type StorageUse } from './counts.ts';
import * as limits from './limits.ts';

export type StorageNotice = {
  accountId: string;
  percent: number;
  usedBytes: number;
  limitBytes: number;
  plan: PlanName;
};

type LimitDeps = {
  clock: Clock;
  log: Logger;
  readUse(accountId: string): Promise<StorageUse>;
  planOf(accountId: string): Promise<PlanName>;
  limitOf(plan: PlanName): number | null;
  // Notifies an account that its storage is filling up. Repeating a notice within a month must be harmless.
  notify?(notice: StorageNotice): Promise<void>;
};

export type StorageLimit = {
  // Admits a write of about `bytes`, or throws the problem for the caller. `isOwner`: the caller may see how much the
  // account has stored.
  admit(accountId: string, bytes: number, isOwner?: boolean): Promise<void>;
  hasRoom(accountId: string, bytes: number): Promise<boolean>;
};

type Entry = {
  used: number;
  plan: PlanName;
  limit: number | null;
  readAt: number;
  isBehind: boolean; // the count does not advance at the moment
  pending: { at: number; bytes: number }[]; // admitted by this process, and perhaps not counted yet
  notifiedPercent: number;
};

type Weighed = { entry: Entry; used: number; fits: boolean };

// The count is seconds old. Writes admitted by this process are added to it, so that a burst is stopped at the limit
// and not seconds later.
export function createStorageLimit(deps: LimitDeps): StorageLimit {
  const { clock } = deps;
  const entries = createRecentMap<string, Promise<Entry>>(limits.accountsKept);

  async function read(accountId: string, known?: Entry): Promise<Entry> {
    const readAt = clock.now();
    const plan = await deps.planOf(accountId);
    const limit = deps.limitOf(plan);
    const use = limit === null ? nothingStored : await deps.readUse(accountId); // nothing to compare with
    const used = use.isCounted ? use.bytes : 0;
    if (known) forgetCounted(known, used - known.used);
    const entry: Entry = {
      used,
      plan,
      limit,
      readAt,
      isBehind: use.isBehind,
      pending: known?.pending ?? [],
      notifiedPercent: known?.notifiedPercent ?? 0,
    };
    notifyOfShare(accountId, entry);
    return entry;
  }

  function refresh(accountId: string, known?: Entry): Promise<Entry> {
    const reading = read(accountId, known);
    entries.set(accountId, reading);
    reading.catch(() => entries.delete(accountId));
    return reading;
  }

  async function lookUp(accountId: string, mostMs: number = limits.readMs): Promise<Entry> {
    const found = entries.get(accountId);
    if (!found) return refresh(accountId);
    const entry = await found;
    if (clock.now() - entry.readAt < mostMs) return entry;
    // Of several callers that find it expired, one reads it again.
    return entries.get(accountId) === found ? refresh(accountId, entry) : lookUp(accountId, mostMs);
  }

  function pendingBytes(entry: Entry): number {
    const since = clock.now() - limits.pendingMs;
    if (!entry.isBehind) while (entry.pending[0] && entry.pending[0].at < since) entry.pending.shift();
    return entry.pending.reduce((sum, one) => sum + one.bytes, 0);
  }

  function add(entry: Entry, bytes: number): void {
    const last = entry.pending.at(-1);
    const now = clock.now();
    // While the count does not advance, no entry is removed, so the list must not grow.
    if (last && entry.isBehind)
      entry.pending[entry.pending.length - 1] = { at: now, bytes: last.bytes + bytes };
    else if (last && now - last.at < limits.pendingStepMs) last.bytes += bytes;
    else entry.pending.push({ at: now, bytes });
  }

  function notifyOfShare(accountId: string, entry: Entry): void {
    if (entry.limit === null || !deps.notify) return;
    const share = (100 * entry.used) / entry.limit;
    const percent = limits.noticeShares.findLast(one => share >= one) ?? 0;
    if (percent > entry.notifiedPercent) {
      const { used: usedBytes, limit: limitBytes, plan } = entry;
      deps.notify({ accountId, percent, usedBytes, limitBytes, plan }).catch(error => {
        deps.log.warn(
          { err: error, account_id: accountId },
          'an account could not be notified of its storage',
        );
      });
    }
    entry.notifiedPercent = percent;
  }

  const weigh = (entry: Entry, bytes: number): Weighed => {
    const used = entry.used + pendingBytes(entry);
    return { entry, used, fits: entry.limit === null || used + bytes <= entry.limit };
  };

  async function find(accountId: string, bytes: number): Promise<Weighed> {
    let found = weigh(await lookUp(accountId), bytes);
    // Something may have been deleted a moment ago.
    if (!found.fits) found = weigh(await lookUp(accountId, limits.rereadMs), bytes);
    if (found.fits) add(found.entry, bytes);
    return found;
  }

  return {
    hasRoom: async (accountId, bytes) => (await find(accountId, bytes)).fits,
    async admit(accountId, bytes, isOwner = true) {
      const { entry, used, fits } = await find(accountId, bytes);
      if (!fits) throw isOwner ? refusal(entry, used, bytes, deps.limitOf) : full();
    },
  };
}

// Removes from the pending bytes what the count has grown by.
function forgetCounted({ pending }: Entry, grownBytes: number): void {
  let left = grownBytes;
  while (left > 0 && pending[0]) {
    const counted = Math.min(left, pending[0].bytes);
    pending[0].bytes -= counted;
    left -= counted;
    if (pending[0].bytes === 0) pending.shift();
  }
}

const full = () =>
  accountsErrors.create('accounts.storage_limit_reached', 'There is no storage left here for anything new.');

function refusal(
  { plan, limit }: Entry,
  usedBytes: number,
  requestBytes: number,
  limitOf: LimitDeps['limitOf'],
) {
  const limitBytes = limit!;
  const details = { plan, usedBytes, limitBytes, requestBytes };
  const most = Math.max(...publicPlans.map(one => limitOf(one) ?? Number.POSITIVE_INFINITY));
  if (requestBytes > most)
    return accountsErrors.create(
      'accounts.request_exceeds_storage',
      `This request would store about ${sizeText(requestBytes)}, which is more than any plan keeps. Send less at a time, or to fewer users.`,
      details,
    );
  return accountsErrors.create(
    'accounts.storage_limit_reached',
    `You use ${sizeText(usedBytes)} of the ${sizeText(limitBytes)} that the plan "${plan}" keeps, and this request would add about ${sizeText(requestBytes)}. Delete what you no longer need, let messages and events expire sooner, or choose a larger plan.`,
    details,
  );
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1).replace(/\.0$/, '')} ${units[power]}`;
}
