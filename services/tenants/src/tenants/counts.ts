import { failedCondition, is, isRefused, type NamedStep, write } from '@stak/table';
import type { LimitShare, Service } from '../deps.ts';
import { tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { tenantCount, tenantsOfAccount, userCount, usersOfTenant } from '../tables.ts';

// The tenants of an account and the users of a tenant, if plans limit them. A count changes in the transaction that
// changes what it counts. Accounts without a limit have no counts, so that their writes do not contend for one item; if
// a plan introduces a limit, the count is taken at the next creation. `createWithin` would count each time, and a
// tenant may have tens of thousands of users.

type Count = { count: number; counted_at_ms: number; version: number };
type Counted = {
  of: Pick<LimitShare, 'tenant_id'>; // whose users; without it, the tenants of the account
  read(): Promise<Count | undefined>;
  take(): Promise<number>; // counts them one by one
  write(count: number, before: Count | undefined): Promise<unknown>;
  add(change: 1 | -1, limit?: number): NamedStep[1];
  addUncertain(): NamedStep[1]; // one that may be counted already: all are counted again before anything is refused
  refusal(limit: number): Error;
};

const step = 'the count';

type Room = { account_id: string; limit: number | null };

/** Makes a transaction that adds one, with the step that it gets. Refuses if the plan has no room. */
export async function addCounted(
  deps: Service,
  counted: Counted,
  { account_id, limit }: Room,
  transact: (steps: readonly NamedStep[]) => Promise<void>,
): Promise<void> {
  try {
    await addOne(deps, counted, limit, transact);
  } finally {
    // Also after a refusal: the process that filled the plan may have crashed before it reported.
    if (limit !== null) void reportShare(deps, counted, { account_id, limit });
  }
}

const isOld = ({ now }: Service['clock'], { counted_at_ms }: Count): boolean =>
  counted_at_ms <= now() - limits.recountMs;

async function addOne(
  { clock }: Service,
  counted: Counted,
  limit: number | null,
  transact: (steps: readonly NamedStep[]) => Promise<void>,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    const found = (await counted.read()) ?? (limit === null ? undefined : await recount(counted, undefined));
    try {
      return await transact(found ? [[step, counted.add(1, limit ?? undefined)]] : []);
    } catch (error) {
      if (limit === null || failedCondition(error)?.step !== step) throw error;
      // The count may be wrong, for example because an older version of the server did not keep it: count before refusing.
      if (!isFirst || found === undefined || !isOld(clock, found)) throw counted.refusal(limit);
      await recount(counted, found);
    }
  }
}

// Reads the count again: of several that add at the same time, the last one sees them all. Nobody waits for it.
async function reportShare(
  { onShareUsed, reportedShares, log }: Service,
  counted: Counted,
  { account_id, limit }: { account_id: string; limit: number },
): Promise<void> {
  if (!onShareUsed) return;
  const key = `${account_id} ${counted.of.tenant_id ?? ''} ${limit}`;
  try {
    const { count = 0 } = (await counted.read()) ?? {};
    const percent = limits.notifiedShares.findLast(share => count * 100 >= share * limit) ?? 0;
    const reported = reportedShares.get(key) ?? 0;
    if (percent === reported) return;
    reportedShares.set(key, percent);
    if (percent > reported) await onShareUsed({ account_id, ...counted.of, percent, limit });
  } catch (error) {
    reportedShares.delete(key);
    log.warn({ err: error, account_id }, 'an account could not be notified of a limit of its plan');
  }
}

/** Steps for a transaction that removes one. */
export const removalSteps = async (counted: Counted): Promise<NamedStep[]> =>
  (await counted.read()) ? [[step, counted.add(-1)]] : [];

/** Refuses early what `addCounted` would refuse later. */
export async function checkRoom({ clock }: Service, counted: Counted, limit: number | null): Promise<void> {
  if (limit === null) return;
  let found = (await counted.read()) ?? (await recount(counted, undefined));
  if (found.count >= limit && isOld(clock, found)) found = await recount(counted, found);
  if (found.count >= limit) throw counted.refusal(limit);
}

/** How many there are, and the limit. Without a limit they are not counted. */
export async function readCounted(
  counted: Counted,
  limit: number | null,
): Promise<{ used: number | null; limit: number | null }> {
  if (limit === null) return { used: null, limit };
  const { count } = (await counted.read()) ?? (await recount(counted, undefined));
  return { used: count, limit };
}

/** The limit of an account's plan; null: no limit. */
export const roomFor = async (
  { planOf }: Service,
  account_id: string,
  what: 'tenants' | 'usersPerTenant',
): Promise<number | null> => (await planOf?.(account_id))?.[what] ?? null;

// Every creation writes the count first, so a count is valid if it was not written in the meantime.
async function recount(counted: Counted, before: Count | undefined): Promise<Count> {
  const count = await counted.take();
  await counted.write(count, before).catch(error => {
    if (!isRefused(error)) throw error;
  });
  return (await counted.read()) ?? { count, counted_at_ms: 0, version: 0 };
}

const hasRoom = (limit: number | undefined) =>
  limit === undefined ? {} : { if: { count: is.below(limit) } };
const onlyAfter = (before: Count | undefined) =>
  before ? { ifVersion: before.version } : { ifAbsent: true as const };

export function tenantsCounted({ store, clock }: Service, account_id: string): Counted {
  return {
    of: {},
    read: () => store.get(tenantCount, { account_id }, { consistent: true }),
    take: () => lengthOf(store.all(tenantsOfAccount, { account_id })),
    write: (count, before) =>
      store.put(tenantCount, { account_id, count, counted_at_ms: clock.now() }, onlyAfter(before)),
    add: (change, limit) =>
      write.update(tenantCount, { account_id }, { add: { count: change } }, hasRoom(limit)),
    addUncertain: () =>
      write.update(tenantCount, { account_id }, { add: { count: 1 }, set: { counted_at_ms: 0 } }),
    refusal: limit =>
      tenantErrors.create(
        'tenants.tenant_limit_reached',
        `There is no room for another tenant: your plan has ${limit}.`,
        {
          limit,
        },
      ),
  };
}

export function usersCounted({ store, clock }: Service, tenant_id: string): Counted {
  return {
    of: { tenant_id },
    read: () => store.get(userCount, { tenant_id }, { consistent: true }),
    // Users of another program are counted when they are adopted.
    take: () => lengthOf(store.all(usersOfTenant, { tenant_id }, { filter: { version: is.present } })),
    write: (count, before) =>
      store.put(userCount, { tenant_id, count, counted_at_ms: clock.now() }, onlyAfter(before)),
    add: (change, limit) =>
      write.update(userCount, { tenant_id }, { add: { count: change } }, hasRoom(limit)),
    addUncertain: () =>
      write.update(userCount, { tenant_id }, { add: { count: 1 }, set: { counted_at_ms: 0 } }),
    refusal: limit =>
      tenantErrors.create(
        'tenants.user_limit_reached',
        `There is no room for another user: the plan has ${limit} for a tenant.`,
        {
          limit,
        },
      ),
  };
}

async function lengthOf(items: AsyncIterable<unknown>): Promise<number> {
  let length = 0;
  for await (const _ of items) length++;
  return length;
}
