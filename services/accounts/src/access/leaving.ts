import { failedStep, type Store, type WriteStep, write } from '@stak/table';
import { accountsErrors } from '../errors.ts';
import { accountDeletion, type Profile, profile } from '../main-table.ts';
import { countSteps, type Memberships } from './memberships.ts';
import {
  invitation,
  invitationsOf,
  linkedSubject,
  linkedTo,
  member,
  membersOf,
  organisation,
  organisationProvider,
  organisationsOf,
  providerSubject,
  subjectsOf,
} from './tables.ts';

type LeavingDeps = { store: Store; clock: { now(): number }; memberships: Memberships };

type Steps = Record<string, WriteStep>;
export type Leaving = {
  steps: Steps;
  leaves: Steps[]; // for each organisation that continues without them
  keepsAccount: boolean; // the account with the person's id is used by others
  left: string[]; // the organisations that continue without them
};

// Plans the future of a person's organisations when they delete their account. Organisations with no other member are
// deleted; those with another owner stay. An organisation with other members but no other owner blocks the deletion.
export async function planLeaving(deps: LeavingDeps, { userId }: Profile): Promise<Leaving> {
  const { memberships, clock } = deps;
  const leaving: Leaving = { steps: {}, leaves: [], keepsAccount: false, left: [] };
  const own = await memberships.read(userId);
  const isOwn = (await memberships.roleIn(userId, userId)) !== undefined;
  leaving.keepsAccount = own !== undefined && (own.members > 1 || !isOwn);
  if (own && !leaving.keepsAccount)
    leaving.steps['the own organisation'] = write.check(
      organisation,
      { accountId: userId },
      { present: true, if: { members: own.members } },
    );
  else if (!own)
    leaving.steps['the own organisation'] = write.check(
      organisation,
      { accountId: userId },
      { absent: true },
    );
  const requestedAt = new Date(clock.now()).toISOString();
  for (const { accountId, role } of await memberships.list(userId)) {
    if (accountId === userId && !leaving.keepsAccount) continue;
    const membership = await memberships.read(accountId);
    if (!membership) continue;
    const isOwner = role === 'owner';
    if (isOwner && membership.owners === 1 && membership.members > 1) throw stillNeeded(membership.name);
    const gone = { accountId, userId };
    if (membership.members === 1) {
      const closed = { set: { deletingAt: requestedAt } };
      leaving.steps[`close ${accountId}`] = write.update(profile, { userId: accountId }, closed);
      leaving.steps[`count ${accountId}`] = write.check(
        organisation,
        { accountId },
        { present: true, if: { members: 1 } },
      );
      leaving.steps[`delete ${accountId}`] = write.put(accountDeletion, { userId: accountId, requestedAt });
      continue;
    }
    leaving.left.push(accountId);
    const counts = countSteps(deps, accountId, { members: -1, owners: isOwner ? -1 : 0 });
    leaving.leaves.push({
      [`leave ${accountId}`]:
        accountId === userId
          ? write.update(member, gone, { remove: ['role', 'joinedHash', 'invitedBy'] }, { if: { role } })
          : write.delete(member, gone, { ifPresent: true, if: { role } }),
      [`count ${accountId}`]: counts['the organisation']!,
    });
  }
  return leaving;
}

// For a person who gives up their account without having been asked. An organisation that has other members and no other
// owner stays as it is, with an owner who cannot sign in.
export const planAbandoning = (deps: LeavingDeps, user: Profile): Promise<Leaving> =>
  planLeaving(deps, user).catch(error => {
    if (!accountsErrors.includes(error) || error.code !== 'accounts.last_owner') throw error;
    return { steps: {}, leaves: [], keepsAccount: true, left: [] };
  });

// Leaves the organisations that the index did not list when the account was deleted: it is up to date a minute later.
export async function leaveTheRest(deps: LeavingDeps, userId: string): Promise<void> {
  for await (const { accountId, role } of deps.store.all(organisationsOf, { userId })) {
    if (accountId === userId || role === undefined) continue;
    const steps = {
      'the member': write.delete(member, { accountId, userId }, { ifPresent: true, if: { role } }),
      ...countSteps(deps, accountId, { members: -1, owners: role === 'owner' ? -1 : 0 }),
    };
    await deps.store.transact(steps, { pattern: 'leave an organisation' }).catch(error => {
      // If the person is its only member, the organisation is deleted.
      if (failedStep(error) === undefined) throw error;
    });
  }
}

// Erases what an organisation owns and loses with its account.
export async function organisationErasure({ store }: LeavingDeps, accountId: string): Promise<void> {
  const steps: WriteStep[] = [write.delete(organisation, { accountId })];
  for await (const { userId } of store.all(membersOf, { accountId }))
    steps.push(write.delete(member, { accountId, userId }));
  for await (const { invitationId } of store.all(invitationsOf, { accountId }))
    steps.push(write.delete(invitation, { accountId, invitationId }));
  steps.push(write.delete(organisationProvider, { accountId }));
  for await (const { subjectHash, userId } of store.all(subjectsOf, { accountId })) {
    steps.push(write.delete(providerSubject, { accountId, subjectHash }));
    steps.push(write.delete(linkedSubject, { userId, accountId }));
  }
  await store.batchWrite(steps, { pattern: 'erase an organisation' });
}

// The subjects at organisations' providers that a person was linked to.
export async function subjectErasure(store: Store, userId: string): Promise<WriteStep[]> {
  const steps: WriteStep[] = [];
  for await (const { accountId, subjectHash } of store.all(linkedTo, { userId })) {
    steps.push(write.delete(linkedSubject, { userId, accountId }));
    steps.push(write.delete(providerSubject, { accountId, subjectHash }));
  }
  return steps;
}

const stillNeeded = (name: string) =>
  accountsErrors.create(
    'accounts.last_owner',
    `You are the last owner of ${name}, which has other members. Transfer ownership or remove them first.`,
  );
