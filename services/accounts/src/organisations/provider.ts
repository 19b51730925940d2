import type { Sealer } from '@stak/kit';
import { failedStep, ignoreConflict, is, type WriteStep, write } from '@stak/table';
import { accountIsOpen, isOpen } from '../access/memberships.ts';
import {
  linkedSubject,
  member,
  type OrganisationProvider,
  organisation,
  organisationProvider,
  providerSubject,
} from '../access/tables.ts';
import { isoTime, sha256 } from '../deps.ts';
import { accountsErrors, disabledError, organisationNotFound } from '../errors.ts';
import { settleAttempts } from '../limits.ts';
import type { Profile } from '../main-table.ts';
import type { Origin } from '../origin.ts';
import { requireFresh, type SessionOrigin } from '../people/credentials/owner.ts';
import { attemptOver, type Linker } from '../people/oauth/attempts.ts';
import { refuse } from '../people/oauth/errors.ts';
import { displayName } from '../people/oauth/identities.ts';
import type { IssuerClient, IssuerOwner, Issuers } from '../people/oauth/issuers.ts';
import * as limits from '../people/oauth/limits.ts';
import type { Identity } from '../people/oauth/provider.ts';
import type { SignedIn } from '../people/sessions/session-item.ts';
import { deviceSteps } from '../people/sign-in/devices.ts';
import type { Role } from '../roles.ts';
import { emailSchema, organisationDomain } from '../schema.ts';
import { type Actor, type OrganisationDeps, seatsOf, seatsTaken } from './members.ts';

export type OrganisationProviderDeps = OrganisationDeps & { sealer: Sealer; issuers: Issuers };

export type ProviderSettings = {
  issuer: string;
  clientId: string;
  clientSecret?: string; // keeps the stored one of the same issuer by default
  domains: string[];
  defaultRole: Exclude<Role, 'owner'>;
};

const sealLocation = (accountId: string) => `ferryhook-main/USER#${accountId}/PROVIDER/sealedSecret`;
const hashOf = (issuer: string, subject: string): string => sha256(`${issuer}\n${subject}`);

export const ownerOf = (accountId: string): IssuerOwner => ({
  name: 'organisation',
  organisationId: accountId,
});
export const clientOf = (
  { sealer }: Pick<OrganisationProviderDeps, 'sealer'>,
  { accountId, issuer, clientId, sealedSecret, updatedAt }: OrganisationProvider,
): IssuerClient => ({
  issuer,
  clientId,
  version: updatedAt,
  openSecret: () => sealer.openText(sealedSecret, sealLocation(accountId)),
});

const readProvider = ({ store }: OrganisationProviderDeps, accountId: string) =>
  store.get(organisationProvider, { accountId }, { consistent: true });

export async function requireProvider(deps: OrganisationProviderDeps, accountId: string) {
  const [settings, account] = await Promise.all([
    readProvider(deps, accountId),
    deps.users.readProfile(accountId),
  ]);
  if (!settings || !isOpen(account)) throw noProvider();
  return { settings, account };
}

// The provider decides who can join the organisation, so this needs an owner and a recent second factor.
export async function changeProvider(
  deps: OrganisationProviderDeps,
  actor: Actor,
  signed: SessionOrigin,
  { clientSecret, ...wanted }: ProviderSettings,
): Promise<OrganisationProvider> {
  const { store, clock, sealer, audit, issuers } = deps;
  const { accountId } = actor;
  await requireFresh(deps, signed);
  const refusal = issuers.refusalOf(wanted.issuer);
  if (refusal !== undefined)
    throw refuse('accounts.provider_refused', `The issuer cannot be used: ${refusal}`);
  const before = await readProvider(deps, accountId);
  // A stored secret is sent to no other issuer: an owner, who may not read it, could name their own.
  const kept = before?.issuer === wanted.issuer ? before.sealedSecret : undefined;
  const sealedSecret = clientSecret === undefined ? kept : sealer.seal(clientSecret, sealLocation(accountId));
  if (sealedSecret === undefined)
    throw refuse('accounts.provider_refused', 'A new provider needs its client secret.');
  const settings = { accountId, ...wanted, sealedSecret, updatedAt: isoTime(clock.now()) };
  const entry = { ...actor.entry, action: 'provider.changed', target: wanted.issuer };
  await store
    .transact(
      {
        'the settings': write.put(organisationProvider, settings, {
          if: { updatedAt: before?.updatedAt ?? is.absent },
        }),
        audit: audit.step(accountId, {
          ...entry,
          detail: `${wanted.domains.join(', ')} as ${wanted.defaultRole}`,
        }),
      },
      { pattern: 'change the provider of an organisation' },
    )
    .catch(error => {
      if (failedStep(error)?.step !== 'the settings') throw error;
      throw accountsErrors.create('accounts.changed', 'The provider has changed in the meantime.');
    });
  return settings;
}

// Sessions that were started through the provider stay valid.
export async function removeProvider(
  { store, audit }: OrganisationProviderDeps,
  { accountId, entry }: Actor,
): Promise<void> {
  const steps = {
    'the settings': write.delete(organisationProvider, { accountId }, { ifPresent: true }),
    audit: audit.step(accountId, { ...entry, action: 'provider.removed' }),
  };
  await store.transact(steps, { pattern: 'remove the provider of an organisation' }).catch(error => {
    throw failedStep(error)?.step === 'the settings' ? noProvider() : error;
  });
}

type ProviderVisit = { settings: OrganisationProvider; account: Profile; identity: Identity };

// Finds the person by issuer and subject alone. The address is only the provider's claim, so an existing account with it
// is not used.
export async function signInThrough(
  deps: OrganisationProviderDeps,
  visit: ProviderVisit,
  origin: Origin,
): Promise<SignedIn> {
  const { store, users, sessions, memberships, outbox } = deps;
  const { settings, identity } = visit;
  const { accountId } = settings;
  const claimedEmail = checkDomain(settings, identity);
  const key = { accountId, subjectHash: hashOf(settings.issuer, identity.id) };
  for (let left = settleAttempts; ; left--) {
    const storedProviderSubject = await store.get(providerSubject, key, { consistent: true });
    if (!storedProviderSubject) {
      const isMade = await join(deps, visit, claimedEmail, origin);
      if (!isMade && left === 1) throw attemptOver();
      continue;
    }
    const { userId } = storedProviderSubject;
    const user = await users.readProfile(userId);
    if (user?.disabledAt !== undefined) throw disabledError();
    if (!user || (await memberships.roleIn(accountId, userId)) === undefined) throw notMember();
    const also = {
      ...(await deviceSteps(deps, user, origin)),
      'the subject': write.check(providerSubject, key, { present: true, if: { userId } }),
      // The provider decides how long it takes to answer: it may have been removed meanwhile.
      'the settings': unchanged(settings),
    };
    const started = await sessions
      .start({ userId, signedInWith: 'organisation', origin, within: accountId, also })
      .catch(error => {
        throw failedStep(error) === undefined ? error : notMember();
      });
    outbox.wake();
    return started;
  }
}

const unchanged = ({ accountId, updatedAt }: OrganisationProvider): WriteStep =>
  write.check(organisationProvider, { accountId }, { present: true, if: { updatedAt } });

// Creates a person who belongs to the organisation. Their address is not verified, so its owner can still sign up with
// it. Returns false if a concurrent sign-in created the person first.
async function join(
  deps: OrganisationProviderDeps,
  { settings, account, identity }: ProviderVisit,
  claimedEmail: string,
  { address, requestId }: Origin,
): Promise<boolean> {
  const { store, clock, ids, users, audit, memberships } = deps;
  const { accountId, defaultRole: role } = settings;
  if (!(await memberships.read(accountId)))
    await store
      .transact(memberships.stepsToOpen(account), { pattern: 'open an organisation' })
      .catch(ignoreConflict);
  const userId = ids.next('usr');
  const now = isoTime(clock.now());
  const detail = `${claimedEmail} as ${role}`;
  const by = { by: userId, via: 'organisation', target: userId, detail, address, requestId };
  const also = {
    'the settings': unchanged(settings),
    'a seat': write.update(
      organisation,
      { accountId },
      { add: { members: 1 }, set: { updatedAt: now } },
      { if: { members: is.below(seatsOf(deps, account)) } },
    ),
    'the member': write.put(member, { accountId, userId, role, joinedAt: now }, { ifAbsent: true }),
    'the account': accountIsOpen(accountId),
    ...subjectSteps(deps, settings, identity, userId),
    audit: audit.step(accountId, { ...by, action: 'member.joined' }),
  };
  const made = {
    email: userId + organisationDomain,
    name: displayName(identity, claimedEmail),
    madeFor: accountId,
    claimedEmail,
  };
  try {
    await users.create(made, also, userId);
    return true;
  } catch (error) {
    if (failedStep(error)?.step === 'a seat') throw seatsTaken(seatsOf(deps, account));
    if (failedStep(error)?.step === 'the subject') return false;
    throw failedStep(error) === undefined ? error : attemptOver();
  }
}

// Links a signed-in member to their identity at the organisation's provider.
export async function linkThrough(
  deps: OrganisationProviderDeps,
  { settings, identity }: ProviderVisit,
  { userId, sessionId }: Linker,
  { address, requestId }: Origin,
): Promise<void> {
  const { store, sessions, memberships, audit } = deps;
  const { accountId } = settings;
  checkDomain(settings, identity);
  if (!(await sessions.isLive(userId, sessionId))) throw attemptOver();
  if ((await memberships.roleIn(accountId, userId)) === undefined) throw organisationNotFound();
  const by = { by: userId, via: 'session', credentialId: sessionId, address, requestId };
  const entry = { ...by, action: 'identity.linked', target: `organisation:${accountId}` };
  const steps = {
    ...subjectSteps(deps, settings, identity, userId),
    audit: audit.step(userId, entry),
    ...(accountId !== userId && { 'audit of the account': audit.step(accountId, entry) }),
  };
  await store.transact(steps, { pattern: 'link a subject' }).catch(async error => {
    if (failedStep(error) === undefined) throw error;
    const subjectHash = hashOf(settings.issuer, identity.id);
    const linked = await store.get(linkedSubject, { userId, accountId }, { consistent: true });
    if (linked?.subjectHash === subjectHash) return; // a repeated call, after a lost response
    throw linked
      ? refuse('accounts.link_refused', 'You are linked to another identity there. Unlink it first.')
      : accountsErrors.create('accounts.identity_taken', 'Another member is linked to this identity.');
  });
}

export async function unlinkSubject(
  { store, audit }: OrganisationProviderDeps,
  user: Profile,
  accountId: string,
  { sessionId, address, requestId }: SessionOrigin,
): Promise<void> {
  const { userId } = user;
  const linked = await store.get(linkedSubject, { userId, accountId }, { consistent: true });
  if (!linked) throw refuse('accounts.provider_not_linked', 'You are not linked to this provider.');
  if (user.madeFor === accountId)
    throw refuse(
      'accounts.last_sign_in',
      'This provider created your account and is your only way to sign in.',
    );
  const { subjectHash } = linked;
  const by = { via: 'session', credentialId: sessionId, address, requestId };
  const steps = {
    'the link': write.delete(linkedSubject, { userId, accountId }, { if: { subjectHash } }),
    'the subject': write.delete(providerSubject, { accountId, subjectHash }, { if: { userId } }),
    audit: audit.step(userId, {
      ...by,
      action: 'identity.unlinked',
      target: `organisation:${accountId}`,
    }),
  };
  await store.transact(steps, { pattern: 'unlink a subject' });
}

function subjectSteps(
  { clock }: OrganisationProviderDeps,
  { accountId, issuer }: OrganisationProvider,
  { id: subject }: Identity,
  userId: string,
): Record<string, WriteStep> {
  const subjectHash = hashOf(issuer, subject);
  const linkedAt = isoTime(clock.now());
  return {
    'the subject': write.put(
      providerSubject,
      { accountId, subjectHash, userId, issuer, subject, linkedAt },
      { ifAbsent: true },
    ),
    'the link': write.put(linkedSubject, { userId, accountId, subjectHash }, { ifAbsent: true }),
  };
}

// The organisation accepts only people with a verified address in one of its domains.
function checkDomain({ domains }: OrganisationProvider, { id, email, isEmailVerified }: Identity): string {
  const parsed = emailSchema.safeParse(email);
  const domain = parsed.data?.slice(parsed.data.lastIndexOf('@') + 1);
  if (id.length <= limits.subjectChars && isEmailVerified && domain && domains.includes(domain))
    return parsed.data!;
  throw refuse(
    'accounts.domain_refused',
    'The provider did not return a verified address in an allowed domain. Ask your organisation’s admins.',
  );
}

const noProvider = () =>
  accountsErrors.create('accounts.organisation_not_found', 'Organisation not found, or it has no provider.');
const notMember = () =>
  refuse('accounts.not_a_member', 'You are no longer a member of this organisation. Ask its admins.');
