import { createWithin, is, type WriteStep, write } from '@stak/table';
import type { Audit, AuditRecord } from '../audit.ts';
import { type Base, inSeconds, isoTime } from '../deps.ts';
import { accountsErrors, userNotFound } from '../errors.ts';
import { creationS } from '../limits.ts';
import { creation, type Profile, profile } from '../main-table.ts';
import type { Role } from '../roles.ts';
import { organisationDomain } from '../schema.ts';
import type { Users } from '../users/users.ts';
import * as limits from './limits.ts';
import { member, membersOf, type Organisation, organisation, organisationsOf } from './tables.ts';

// An account, and a person's role in it.
export type Standing = { accountId: string; role: Role };
type NewOrganisation = { accountId: string; name: string };
type Also = Readonly<Record<string, WriteStep>>;

export type Memberships = {
  // Undefined for people who are not members or are disabled, and for all members of a disabled account.
  roleIn(accountId: string, userId: string): Promise<Role | undefined>;
  // Whether the account is open, and the person is in it, if one is named: for what was given out to them.
  isMember(accountId: string, userId: string | undefined): Promise<boolean>;
  list(userId: string): Promise<Standing[]>;
  // The account to sign in to: the last one used, their own, or any other. Creates an organisation if there is none.
  homeOf(userId: string): Promise<string>;
  read(accountId: string): Promise<Organisation | undefined>;
  // Creates an organisation with the person as its owner, up to the limit of organisations per person. Once for each id:
  // a repeated call finds what the first one created.
  createOwn(person: Profile, made: NewOrganisation, by: Omit<AuditRecord, 'action'>): Promise<void>;
  // Steps that turn a person's account into an organisation, before others can join.
  stepsToOpen(account: Profile): Also;
  // Whether an owner has verified their address.
  isVerified(accountId: string): Promise<boolean>;
};

// People own the account with their id without a member item. The first invitation writes the items that make it an
// organisation.
export function createMemberships(deps: Base & { users: Users; audit: Audit }): Memberships {
  const { store, clock, ids, users, audit } = deps;
  const readMember = (accountId: string, userId: string) =>
    store.get(member, { accountId, userId }, { consistent: true });

  const roleIn: Memberships['roleIn'] = async (accountId, userId) => {
    if (accountId === userId) {
      const own = await readMember(accountId, userId);
      return own ? own.role : 'owner';
    }
    const [found, account, person] = await Promise.all([
      readMember(accountId, userId),
      users.readProfile(accountId),
      users.readProfile(userId),
    ]);
    return isOpen(account) && isOpen(person) ? found?.role : undefined;
  };

  const isMember: Memberships['isMember'] = async (accountId, userId) => {
    const [account, role] = await Promise.all([
      users.readProfile(accountId),
      userId === undefined || roleIn(accountId, userId),
    ]);
    return isOpen(account) && role !== undefined;
  };

  const list: Memberships['list'] = async userId => {
    const standings: Standing[] = [];
    const page = await store.query(organisationsOf, { userId }, { limit: limits.organisationsPerPerson });
    for (const { accountId, role } of page.items) if (role !== undefined) standings.push({ accountId, role });
    const isListed = standings.some(standing => standing.accountId === userId);
    const own = isListed ? undefined : await roleIn(userId, userId);
    return own === undefined ? standings : [{ accountId: userId, role: own }, ...standings];
  };

  // The index may not list the most recent organisations yet, so their members are read directly.
  const countOwned = async (userId: string, recent: readonly string[]): Promise<number> => {
    const ids = new Set([userId, ...recent]);
    for await (const { accountId, role } of store.all(organisationsOf, { userId }))
      if (role === 'owner') ids.add(accountId);
    const members = await Promise.all([...ids].map(id => readMember(id, userId)));
    const isOwn = (id: string) => id === userId; // owned without a member item
    return [...ids].filter((id, i) => (members[i] ? members[i].role === 'owner' : isOwn(id))).length;
  };

  // Creates an organisation unless `find` returns an existing one. Of concurrent calls for a person one creates, and the
  // others call `find` again. `find` gets the organisations of the last hour, which the index may not list yet.
  const createUnless = async (
    person: Profile,
    { accountId, name }: NewOrganisation,
    by: Omit<AuditRecord, 'action'>,
    find: (recent: readonly string[]) => Promise<string | undefined>,
  ): Promise<string> => {
    const { userId } = person;
    const expiresAt = inSeconds(clock.now()) + creationS;
    let account: string | undefined;
    return createWithin(store, creation, {
      key: { userId, of: 'organisations' },
      mark: last => ({
        userId,
        of: 'organisations' as const,
        recent: [...(last?.recent ?? []), accountId].slice(-limits.ownedPerPerson),
        expiresAt,
      }),
      async check(last) {
        account = await find(last?.recent ?? []);
      },
      async create(step) {
        if (account !== undefined) return account;
        await writeOrganisation(person, name, by, accountId, step);
        return accountId;
      },
    });
  };

  const createOwn: Memberships['createOwn'] = async (person, made, by) => {
    const { userId } = person;
    await createUnless(person, made, by, async recent => {
      if (await readMember(made.accountId, userId)) return made.accountId;
      if ((await countOwned(userId, recent)) >= limits.ownedPerPerson) throw tooManyOrganisations();
      return undefined;
    });
  };

  const firstOf = async (userId: string, accountIds: readonly string[]): Promise<string | undefined> => {
    for (const accountId of accountIds) if (await roleIn(accountId, userId)) return accountId;
    return undefined;
  };

  const writeOrganisation = async (
    person: Profile,
    name: string,
    by: Omit<AuditRecord, 'action'>,
    accountId: string,
    counted: Also,
  ): Promise<void> => {
    const { userId, emailVerified } = person;
    const now = isoTime(clock.now());
    const also = {
      'the organisation': write.put(organisation, {
        accountId,
        name,
        members: 1,
        owners: 1,
        createdAt: now,
        updatedAt: now,
      }),
      'the member': write.put(member, { accountId, userId, role: 'owner', joinedAt: now }),
      'the person': write.check(
        profile,
        { userId },
        { present: true, if: { deletingAt: is.absent, disabledAt: is.absent } },
      ),
      audit: audit.step(accountId, { ...by, action: 'organisation.created', by: userId }),
      ...counted,
    };
    // Nobody can sign in as an organisation: its address receives no mail.
    const email = accountId + organisationDomain;
    await users.create({ email, name, emailVerified, isOrganisation: true }, also, accountId);
  };

  return {
    roleIn,
    isMember,
    list,
    createOwn,
    read: accountId => store.get(organisation, { accountId }, { consistent: true }),
    async homeOf(userId) {
      const person = await users.readProfile(userId);
      if (!person) throw userNotFound();
      const { name, signsInto } = person;
      const account = await firstOf(userId, signsInto === undefined ? [userId] : [signsInto, userId]);
      if (account !== undefined) return account;
      const listed = (await list(userId)).map(standing => standing.accountId);
      return (
        (await firstOf(userId, listed)) ??
        createUnless(person, { accountId: ids.next('org'), name }, { via: 'system' }, recent =>
          firstOf(userId, recent),
        )
      );
    },
    async isVerified(accountId) {
      if ((await users.readProfile(accountId))?.emailVerified) return true;
      for await (const { userId, role } of store.all(membersOf, { accountId }))
        if (role === 'owner' && (await users.readProfile(userId))?.emailVerified) return true;
      return false;
    },
    stepsToOpen({ userId, name, createdAt }) {
      const item = { accountId: userId, name, members: 1, owners: 1, createdAt };
      const now = isoTime(clock.now());
      const first = { accountId: userId, userId, role: 'owner' as const, joinedAt: createdAt };
      return {
        'the organisation': write.put(organisation, { ...item, updatedAt: now }, { ifAbsent: true }),
        'the first member': write.put(member, first, { ifAbsent: true }),
      };
    },
  };
}

export const isOpen = (account: Profile | undefined): account is Profile =>
  account !== undefined && account.deletingAt === undefined && account.disabledAt === undefined;

// Fails a transaction if the account does not exist, is being deleted, or is disabled.
export const accountIsOpen = (accountId: string): WriteStep =>
  write.check(
    profile,
    { userId: accountId },
    { present: true, if: { deletingAt: is.absent, disabledAt: is.absent } },
  );

const tooManyOrganisations = () =>
  accountsErrors.create('accounts.too_many_organisations', 'You own the maximum number of organisations.', {
    most: limits.ownedPerPerson,
  });

// Counts are updated together with the members. The last owner cannot be removed.
export function countSteps(
  { clock }: { clock: { now(): number } },
  accountId: string,
  { members, owners }: { members: number; owners: number },
): Record<string, WriteStep> {
  const change = { add: { members, owners }, set: { updatedAt: isoTime(clock.now()) } };
  const options = owners < 0 ? { if: { owners: is.above(-owners) } } : { if: { owners: is.above(0) } };
  return { 'the organisation': write.update(organisation, { accountId }, change, options) };
}
