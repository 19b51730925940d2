import { type Clock, createRecentMap, type Logger } from '@stak/kit';
import { accountsErrors } from '../../errors.ts';
import { type PlanName, publicPlans } from '../../plans.ts';
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
  // The same for a request that keeps nothing more, such as an edit: only what is written in a day is limited.
  admitEdit(accountId: string, bytes: number, isOwner?: boolean): Promise<void>;
  // The same for a request that stores only a line in the audit trail, such as an export. An account without room has
  // some of them each day.
  admitLine(accountId: string, isOwner?: boolean): Promise<void>;
  hasRoom(accountId: string, bytes: number): Promise<boolean>;
};

type Tally = {
  used: number;
  pending: { at: number; bytes: number }[]; // admitted by this process, and perhaps not counted yet
};

type Entry = {
  kept: Tally;
  written: Tally; // today
  plan: PlanName;
  limit: number | null;
  readAt: number;
  isBehind: boolean; // the count does not advance at the moment
  notifiedPercent: number;
  linesWhenFull: { day: number; count: number };
};

type Weighed = { entry: Entry; used: number; written: number; fits: boolean; fitsToday: boolean };

// The count is seconds old. Writes admitted by this process are added to it, so that a burst is stopped at the limit
// and not seconds later.
export function createStorageLimit(deps: LimitDeps): StorageLimit {
  const { clock } = deps;
  const entries = createRecentMap<string, Promise<Entry>>(limits.accountsKept);

  async function read(accountId: string, cached?: Entry): Promise<Entry> {
    const readAt = clock.now();
    const plan = await deps.planOf(accountId);
    const limit = deps.limitOf(plan);
    const use = limit === null ? nothingStored : await deps.readUse(accountId); // nothing to compare with
    const entry: Entry = {
      kept: advance(cached?.kept, use.isCounted ? use.bytes : 0),
      written: advance(cached?.written, use.writtenBytes),
      plan,
      limit,
      readAt,
      isBehind: use.isBehind,
      notifiedPercent: cached?.notifiedPercent ?? 0,
      linesWhenFull: cached?.linesWhenFull ?? { day: 0, count: 0 },
    };
    notifyOfShare(accountId, entry);
    return entry;
  }

  function refresh(accountId: string, cached?: Entry): Promise<Entry> {
    const reading = read(accountId, cached);
    entries.set(accountId, reading);
    reading.catch(() => entries.delete(accountId));
    return reading;
  }

  async function lookUp(accountId: string, mostMs: number = limits.readMs): Promise<Entry> {
    const cached = entries.get(accountId);
    if (!cached) return refresh(accountId);
    const entry = await cached;
    if (clock.now() - entry.readAt < mostMs) return entry;
    // Only one of several callers that see it expired reads it again.
    return entries.get(accountId) === cached ? refresh(accountId, entry) : lookUp(accountId, mostMs);
  }

  function sumOf({ used, pending }: Tally, isBehind: boolean): number {
    const since = clock.now() - limits.pendingMs;
    if (!isBehind) while (pending[0] && pending[0].at < since) pending.shift();
    return pending.reduce((sum, write) => sum + write.bytes, used);
  }

  function add({ pending }: Tally, isBehind: boolean, bytes: number): void {
    const last = pending.at(-1);
    const now = clock.now();
    // While the count does not advance, no entry is removed, so the list must not grow.
    if (last && isBehind) pending[pending.length - 1] = { at: now, bytes: last.bytes + bytes };
    else if (last && now - last.at < limits.pendingStepMs) last.bytes += bytes;
    else pending.push({ at: now, bytes });
  }

  function notifyOfShare(accountId: string, entry: Entry): void {
    if (entry.limit === null || !deps.notify) return;
    const share = (100 * entry.kept.used) / entry.limit;
    const percent = limits.noticeShares.findLast(one => share >= one) ?? 0;
    if (percent > entry.notifiedPercent) {
      const { limit: limitBytes, plan } = entry;
      const usedBytes = entry.kept.used;
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
    const used = sumOf(entry.kept, entry.isBehind);
    const written = sumOf(entry.written, entry.isBehind);
    const limit = entry.limit ?? Number.POSITIVE_INFINITY;
    return {
      entry,
      used,
      written,
      fits: used + bytes <= limit,
      fitsToday: written + bytes <= dailyLimit(limit),
    };
  };

  async function find(accountId: string, bytes: number, isEdit = false): Promise<Weighed> {
    const isRefused = ({ fits, fitsToday }: Weighed) => !fitsToday || (!isEdit && !fits);
    let weighed = weigh(await lookUp(accountId), bytes);
    // Something may have been deleted a moment ago.
    if (isRefused(weighed)) weighed = weigh(await lookUp(accountId, limits.rereadMs), bytes);
    if (isRefused(weighed)) return weighed;
    add(weighed.entry.written, weighed.entry.isBehind, bytes);
    if (!isEdit) add(weighed.entry.kept, weighed.entry.isBehind, bytes);
    return weighed;
  }

  async function admit(accountId: string, bytes: number, isOwner: boolean, isEdit: boolean): Promise<void> {
    const { entry, used, written, fits, fitsToday } = await find(accountId, bytes, isEdit);
    const isFull = !isEdit && !fits;
    if (fitsToday && !isFull) return;
    if (!isOwner) throw full();
    throw isFull
      ? refusal(entry, used, bytes, deps.limitOf)
      : writtenTooMuch(entry, written, bytes, dayMs - (clock.now() % dayMs));
  }

  async function admitLine(accountId: string, isOwner: boolean): Promise<void> {
    const { entry, used, fits } = weigh(await lookUp(accountId), limits.lineBytes);
    if (fits) return add(entry.kept, entry.isBehind, limits.lineBytes);
    const lines = entry.linesWhenFull;
    const day = Math.floor(clock.now() / dayMs);
    if (lines.day !== day) Object.assign(lines, { day, count: 0 });
    if (lines.count >= limits.linesWhenFull)
      throw isOwner ? refusal(entry, used, limits.lineBytes, deps.limitOf) : full();
    lines.count += 1;
  }

  return {
    async hasRoom(accountId, bytes) {
      const { fits, fitsToday } = await find(accountId, bytes);
      return fits && fitsToday;
    },
    admit: (accountId, bytes, isOwner = true) => admit(accountId, bytes, isOwner, false),
    admitEdit: (accountId, bytes, isOwner = true) => admit(accountId, bytes, isOwner, true),
    admitLine: (accountId, isOwner = true) => admitLine(accountId, isOwner),
  };
}

const dayMs = 24 * 60 * 60_000;
const dailyLimit = (keptBytes: number): number => keptBytes * limits.writtenPerDay;

// The count that was read now, and what was admitted before and is not in it.
function advance(previous: Tally | undefined, used: number): Tally {
  if (previous) forgetCounted(previous, used - previous.used);
  return { used, pending: previous?.pending ?? [] };
}

// Removes from the pending bytes what the count has grown by.
function forgetCounted({ pending }: Tally, grownBytes: number): void {
  let left = grownBytes;
  while (left > 0 && pending[0]) {
    const counted = Math.min(left, pending[0].bytes);
    pending[0].bytes -= counted;
    left -= counted;
    if (pending[0].bytes === 0) pending.shift();
  }
}

// With a time to retry after, no answer is stored for an Idempotency-Key: it would take room, and be wrong as soon as there
// is some.
const full = () =>
  accountsErrors.create('accounts.storage_limit_reached', 'There is no storage left here for anything new.', {
    retryAfterS: limits.fullRetryS,
  });

function refusal(
  { plan, limit }: Entry,
  usedBytes: number,
  requestBytes: number,
  limitOf: LimitDeps['limitOf'],
) {
  const limitBytes = limit!;
  const details = { plan, usedBytes, limitBytes, requestBytes };
  const most = Math.max(...publicPlans.map(plan => limitOf(plan) ?? Number.POSITIVE_INFINITY));
  if (requestBytes > most)
    return accountsErrors.create(
      'accounts.request_exceeds_storage',
      `This request would store about ${sizeText(requestBytes)}, which is more than any plan keeps. Send less at a time, or to fewer users.`,
      details,
    );
  return accountsErrors.create(
    'accounts.storage_limit_reached',
    `You use ${sizeText(usedBytes)} of the ${sizeText(limitBytes)} that the plan "${plan}" keeps, and this request would add about ${sizeText(requestBytes)}. Delete what you no longer need, let messages and events expire sooner, or choose a larger plan.`,
    { ...details, retryAfterS: limits.fullRetryS },
  );
}

function writtenTooMuch({ plan, limit }: Entry, writtenBytes: number, requestBytes: number, leftMs: number) {
  const writtenLimitBytes = dailyLimit(limit!);
  return accountsErrors.create(
    'accounts.storage_limit_reached',
    `You have written ${sizeText(writtenBytes)} today, and the plan "${plan}" allows ${sizeText(writtenLimitBytes)} a day, edits included. Continue after midnight UTC, or choose a larger plan.`,
    { plan, writtenBytes, writtenLimitBytes, requestBytes, retryAfterS: Math.ceil(leftMs / 1000) },
  );
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(1).replace(/\.0$/, '')} ${units[power]}`;
}
