import { type ItemOf, isRefused, type WriteStep, write } from '@stak/table';
import { epochItem } from '../access/token-epochs.ts';
import { type Service, timestampOf } from '../deps.ts';
import { noTenant, tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { accountTenant, erasure, notDeleted, openErasure, tenant, tokenEpoch } from '../tables.ts';
import { removalSteps, tenantsCounted } from '../tenants/counts.ts';

export type ErasureItem = ItemOf<typeof erasure>;
export type Erasure = Omit<ErasureItem, 'account_id' | 'due_at' | 'owner' | 'ttl' | 'version'>;

const showErasure = (item: ErasureItem): Erasure => {
  const { account_id, due_at, owner, ttl, version, ...shown } = item;
  return shown;
};

// This service erases last: the other services find a tenant's data through it.
export const ownStep = 'tenants';

type Subject = { tenant_id: string; account_id: string; user_id?: string };

function newErasure({ ids, clock, erasers }: Service, { tenant_id, account_id, user_id }: Subject) {
  const subject: ErasureItem['subject'] = user_id === undefined ? 'tenant' : 'user';
  const others = erasers().filter(one => (user_id === undefined ? one.eraseTenant : one.eraseUser));
  const nowMs = clock.now();
  return {
    tenant_id,
    erasure_id: ids.next('era'),
    account_id,
    subject,
    ...(user_id !== undefined && { user_id }),
    status: 'waiting' as const,
    steps: [...others.map(({ name }) => name).filter(name => name !== ownStep), ownStep],
    steps_done: [],
    due_at: nowMs + limits.erasureGraceMs,
    failures: 0,
    created_at: timestampOf(nowMs),
    version: 1,
  };
}

const jobSteps = (item: ErasureItem): Record<string, WriteStep> => ({
  'the job': write.put(erasure, item, { ifAbsent: true }),
  'find it again': write.put(openErasure, { erasure_id: item.erasure_id, tenant_id: item.tenant_id }),
});

// One write closes the tenant, removes it from its account's list, and creates the job.
export async function deleteTenant(deps: Service, tenant_id: string, account_id: string): Promise<Erasure> {
  const { store, clock, epochs } = deps;
  const job = newErasure(deps, { tenant_id, account_id });
  const change = {
    status: 'deleted' as const,
    deleted_at: timestampOf(clock.now()),
    erasure_id: job.erasure_id,
  };
  const counting = await removalSteps(tenantsCounted(deps, account_id));
  await deps.announce({ tenant: tenant_id }, { account: account_id });
  try {
    await store.transact(
      {
        'shut the gate': write.update(
          tenant,
          { tenant_id },
          { set: change },
          { if: { account_id, ...notDeleted } },
        ),
        'off the list': write.delete(accountTenant, { account_id, tenant_id }),
        ...jobSteps(job),
        ...Object.fromEntries(counting),
      },
      { pattern: 'delete a tenant' },
    );
  } catch (error) {
    if (isRefused(error)) return await deletionUnderWay(deps, tenant_id, account_id);
    throw error;
  }
  epochs.forgetTenant(tenant_id);
  return showErasure(job);
}

// Deleting a tenant that is being deleted returns the existing job.
async function deletionUnderWay(deps: Service, tenant_id: string, account_id: string): Promise<Erasure> {
  const found = await deps.store.get(tenant, { tenant_id }, { consistent: true });
  if (found?.account_id !== account_id || !found.erasure_id) throw noTenant();
  return getErasure(deps, tenant_id, found.erasure_id, account_id);
}

export async function eraseUser(deps: Service, subject: Required<Subject>): Promise<Erasure> {
  const { tenant_id, user_id } = subject;
  const job = newErasure(deps, subject);
  await deps.announce({ tenant: tenant_id, user: user_id });
  await deps.store.transact(
    {
      'revoke its tokens': write.put(tokenEpoch, epochItem(deps, tenant_id, user_id)),
      ...jobSteps(job),
    },
    { pattern: 'erase a user' },
  );
  deps.epochs.forgetUser(tenant_id, user_id);
  return showErasure(job);
}

// The record contains its account: it outlives the tenant, so the check of the tenant cannot be used.
export async function getErasure(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  erasure_id: string,
  account_id: string,
): Promise<Erasure> {
  const found = await store.get(erasure, { tenant_id, erasure_id }, { consistent: true });
  if (found?.account_id !== account_id)
    throw tenantErrors.create('tenants.erasure_not_found', 'Erasure not found.');
  return showErasure(found);
}
