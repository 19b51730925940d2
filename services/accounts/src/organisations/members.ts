import { failedCondition, failedStep, ref, type WriteStep, write } from '@stak/table';
import { type ApiKeys, endApiKeys } from '../access/api-keys.ts';
import { countSteps, type Memberships } from '../access/memberships.ts';
import { invitation, member, membersOf } from '../access/tables.ts';
import type { AuditRecord } from '../audit.ts';
import { sha256 } from '../deps.ts';
import { accountsErrors, organisationNotFound, userNotFound } from '../errors.ts';
import { type Profile, profile } from '../main-table.ts';
import {
  proveOwner,
  requireFresh,
  type SessionOrigin,
  type SignInDeps,
} from '../people/credentials/owner.ts';
import { type Plan, type PlanName, planOf } from '../plans.ts';
import { type Role, roles } from '../roles.ts';
import { settle } from '../settle.ts';

export type OrganisationDeps = SignInDeps & {
  memberships: Memberships;
  apiKeys: ApiKeys;
  plans: Readonly<Record<PlanName, Plan>>;
  defaultPlan: PlanName;
};

// A member who acts in the organisation, where from, and how the audit trail names them.
export type Actor = {
  accountId: string;
  userId: string;
  role: Role;
  address: string | undefined;
  entry: Omit<AuditRecord, 'action'>;
};

// One for each address, even if several members invite it at once.
export const invitationIdOf = (email: string): string => `inv_${sha256(email).slice(0, 24)}`;

type ShownMember = { userId: string; role: Role; joinedAt: string; email?: string; name?: string };

export const seatsOf = ({ plans, defaultPlan }: OrganisationDeps, account: Profile): number =>
  plans[planOf(account, defaultPlan)].seats;

export const seatsTaken = (seats: number) =>
  accountsErrors.create('accounts.seats_taken', 'All seats of your plan are taken.', { seats });

export function checkManages(role: Role, managed: Role): void {
  if (roles[role].manages.includes(managed)) return;
  throw accountsErrors.create(
    'accounts.role_refused',
    `The role "${role}" cannot manage the role "${managed}".`,
  );
}

export async function listMembers(
  { store, users }: OrganisationDeps,
  accountId: string,
  page: { limit?: number; cursor?: string },
): Promise<{ items: ShownMember[]; cursor?: string }> {
  const { items, cursor } = await store.query(membersOf, { accountId }, { ...page, caller: accountId });
  const isOpened = items.length > 0 || page.cursor !== undefined;
  if (!isOpened) {
    const own = await users.readProfile(accountId);
    if (!own) throw userNotFound();
    const { userId, createdAt: joinedAt, email, name } = own;
    return { items: [{ userId, role: 'owner', joinedAt, email, name }] };
  }
  const people = await store.batchGet(
    items.map(({ userId }) => ref(profile, { userId })),
    { consistent: true, pattern: 'people of an organisation' },
  );
  const shown = items.flatMap(({ userId, role, joinedAt }, i) =>
    role === undefined
      ? []
      : [
          {
            userId,
            role,
            joinedAt,
            email: people[i]?.claimedEmail ?? people[i]?.email,
            name: people[i]?.name,
          },
        ],
  );
  return { items: shown, cursor };
}

// Admins and owners can take over an organisation, so granting these roles needs more than an open session.
export async function requireFreshFor(
  deps: OrganisationDeps,
  signed: SessionOrigin,
  role: Role,
  current: Role = 'viewer',
): Promise<void> {
  if (roles[role].manages.length > roles[current].manages.length) await requireFresh(deps, signed);
}

export async function changeRole(
  deps: OrganisationDeps,
  actor: Actor,
  signed: SessionOrigin,
  { userId, role }: { userId: string; role: Role },
): Promise<void> {
  const { accountId } = actor;
  await changeMember(deps, actor, userId, async current => {
    checkManages(actor.role, current);
    checkManages(actor.role, role);
    if (current === role) return undefined;
    await requireFreshFor(deps, signed, role, current);
    return {
      'the member': write.update(member, { accountId, userId }, { set: { role } }, { if: { role: current } }),
      ...countSteps(deps, accountId, { members: 0, owners: ownerCount(role) - ownerCount(current) }),
      audit: deps.audit.step(accountId, {
        ...actor.entry,
        action: 'member.changed',
        target: userId,
        detail: `${current} to ${role}`,
      }),
    };
  });
}

// The member's sessions in the organisation, their event streams (within a second) and their keys end with it.
export async function removeMember(deps: OrganisationDeps, actor: Actor, userId: string): Promise<void> {
  const { sessions, apiKeys, users } = deps;
  const { accountId } = actor;
  const isLeaving = actor.userId === userId;
  const person = await users.readProfile(userId);
  let forget = () => {};
  await changeMember(deps, actor, userId, async current => {
    if (!isLeaving) checkManages(actor.role, current);
    const ending = await sessions.stepsToEndIn(accountId, userId);
    forget = ending.forget;
    return {
      'the member': memberGoes(accountId, userId, current),
      ...invitationsGo(accountId, person),
      ...countSteps(deps, accountId, { members: -1, owners: -ownerCount(current) }),
      audit: deps.audit.step(accountId, {
        ...actor.entry,
        action: isLeaving ? 'member.left' : 'member.removed',
        target: userId,
        detail: person?.email,
      }),
      ...Object.fromEntries(ending.steps),
    };
  });
  forget();
  await endApiKeys(apiKeys, accountId, userId);
  // A session that was started during the read is in the table by now, and no further one can start.
  const late = await sessions.stepsToEndIn(accountId, userId);
  if (late.steps.length > 0) await deps.store.transact(late.steps, { pattern: 'end all sessions' });
  late.forget();
}

// Without the item, the person with the account's id would be its owner again.
const memberGoes = (accountId: string, userId: string, role: Role): WriteStep =>
  accountId === userId
    ? write.update(
        member,
        { accountId, userId },
        { remove: ['role', 'joinedHash', 'invitedBy'] },
        { if: { role } },
      )
    : write.delete(member, { accountId, userId }, { ifPresent: true, if: { role } });

// An invitation from before they joined in another way would bring them back.
const invitationsGo = (accountId: string, { email, claimedEmail = email }: Partial<Profile> = {}) =>
  Object.fromEntries(
    [...new Set([email, claimedEmail])].flatMap(address =>
      address === undefined
        ? []
        : [
            [
              `the invitation of ${address}`,
              write.delete(invitation, { accountId, invitationId: invitationIdOf(address) }),
            ],
          ],
    ),
  ) as Record<string, WriteStep>;

// One write makes the new owner and turns the old one into an admin.
export async function transferOwnership(
  deps: OrganisationDeps,
  actor: Actor,
  signed: SessionOrigin,
  { userId, password }: { userId: string; password: string | undefined },
): Promise<void> {
  const { accountId } = actor;
  if (userId === actor.userId) return;
  const owner = await proveOwner(deps, signed, password);
  await requireFresh(deps, signed, owner);
  await changeMember(deps, actor, userId, async current => ({
    'the member': write.update(
      member,
      { accountId, userId },
      { set: { role: 'owner' } },
      { if: { role: current } },
    ),
    'the owner': write.update(
      member,
      { accountId, userId: actor.userId },
      { set: { role: 'admin' } },
      { if: { role: 'owner' } },
    ),
    ...countSteps(deps, accountId, { members: 0, owners: -ownerCount(current) }),
    audit: deps.audit.step(accountId, { ...actor.entry, action: 'ownership.transferred', target: userId }),
  }));
}

const ownerCount = (role: Role): number => (role === 'owner' ? 1 : 0);

type Steps = (current: Role) => Promise<Record<string, WriteStep> | undefined>;

// Changes a member based on their current role. Reads again and retries if the member changed meanwhile.
async function changeMember(
  deps: OrganisationDeps,
  actor: Actor,
  userId: string,
  make: Steps,
): Promise<void> {
  const { store, sessions, memberships } = deps;
  const { accountId } = actor;
  const attempt = async () => {
    const current = await memberships.roleIn(accountId, userId);
    if (current === undefined)
      throw actor.userId === userId
        ? organisationNotFound()
        : accountsErrors.create('accounts.member_not_found', 'Member not found.');
    const steps = await make(current);
    if (!steps) return;
    // An organisation without memberships has one owner, and no counts.
    if ((await memberships.read(accountId)) === undefined) throw lastOwner();
    await sessions.announceChange(accountId);
    await store
      .transact(steps, { pattern: 'change a member' })
      .catch(error => {
        if (failedCondition(error, 'the owner')) throw notOwner();
        throw failedCondition(error, 'the organisation') ? lastOwner() : error;
      })
      // Also those of keys that the member made. The answer to a change may be lost.
      .finally(() => {
        sessions.forgetAll();
        deps.apiKeys.forgetAll();
      });
  };
  await settle(attempt, error => failedStep(error) !== undefined);
}

const notOwner = () =>
  accountsErrors.create('accounts.changed', 'You have handed the organisation over in the meantime.');
const lastOwner = () =>
  accountsErrors.create('accounts.last_owner', 'An organisation needs an owner. Transfer ownership first.');
