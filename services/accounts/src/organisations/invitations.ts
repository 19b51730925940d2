import { randomBytes } from 'node:crypto';
import { createWithin, failedStep, is, type WriteStep, write } from '@stak/table';
import { accountIsOpen, isOpen, type Standing } from '../access/memberships.ts';
import { type Invitation, invitation, invitationsOf, member, organisation } from '../access/tables.ts';
import { inSeconds, isoTime, sha256 } from '../deps.ts';
import { accountsErrors, userNotFound } from '../errors.ts';
import { creationS } from '../limits.ts';
import { creation, type Profile, profile } from '../main-table.ts';
import type { Origin } from '../origin.ts';
import { tokenRefused } from '../people/credentials/mailed-tokens.ts';
import type { SessionOrigin } from '../people/credentials/owner.ts';
import { type Role, roles } from '../roles.ts';
import { settle } from '../settle.ts';
import * as limits from './limits.ts';
import {
  type Actor,
  checkManages,
  invitationIdOf,
  type OrganisationDeps,
  requireFreshFor,
  seatsOf,
  seatsTaken,
} from './members.ts';

// The token contains the invitation's key, so that it is found by a read. The table stores a hash of the secret part.
const shape = /^((?:usr|org)_[A-Za-z0-9_-]{1,40})\.(inv_[a-f0-9]{24})\.([A-Za-z0-9_-]{43})$/;

type InvitationToken = { accountId: string; invitationId: string; hash: string };

function parseToken(text: string): InvitationToken {
  const match = text.length <= limits.tokenChars ? shape.exec(text) : null;
  if (!match) throw tokenRefused();
  return { accountId: match[1]!, invitationId: match[2]!, hash: sha256(match[3]!) };
}

type NewInvitation = { email: string; role: Role; creationId: string };

// The invitation that an earlier run of the same request has created. Its mail was written with it.
export async function findInvited(
  { store }: OrganisationDeps,
  { accountId }: Actor,
  email: string,
  creationId: string,
): Promise<Invitation | undefined> {
  const key = { accountId, invitationId: invitationIdOf(email) };
  const storedInvitation = await store.get(invitation, key, { consistent: true });
  return storedInvitation?.creationId === creationId ? storedInvitation : undefined;
}

export async function invite(
  deps: OrganisationDeps,
  actor: Actor,
  signed: SessionOrigin,
  { email, role, creationId }: NewInvitation,
): Promise<Invitation> {
  const { store, users, memberships, throttle, clock } = deps;
  const { accountId } = actor;
  needMail(deps);
  checkManages(actor.role, role);
  await requireFreshFor(deps, signed, role);
  // Performs the same reads for an unknown address: the response time must not reveal whether it has an account.
  const profile = await users.findProfile('email', email);
  if ((await memberships.roleIn(accountId, profile?.userId ?? 'nobody')) !== undefined)
    throw accountsErrors.create('accounts.already_member', 'They are a member already.', {
      errors: [
        { in: 'body', pointer: '#/email', code: 'already_member', detail: 'They are a member already.' },
      ],
    });
  const invitationId = invitationIdOf(email);
  await throttle.tryMail({ email, address: actor.address, purpose: 'invitation', sender: accountId });
  const attempt = () =>
    createWithin(store, creation, {
      key: { userId: accountId, of: 'invitations' },
      mark: () => ({
        userId: accountId,
        of: 'invitations' as const,
        expiresAt: inSeconds(clock.now()) + creationS,
      }),
      check: () => checkRoom(deps, accountId, invitationId),
      create: async step =>
        (await findInvited(deps, actor, email, creationId)) ??
        writeInvitation(deps, actor, { email, role, creationId, invitationId }, step),
    });
  const isOpened = (error: unknown) =>
    ['the organisation', 'the first member'].includes(failedStep(error)?.step ?? '');
  const item = await settle(attempt, isOpened);
  deps.outbox.wake();
  return item;
}

// Not counting an invitation for the same address, which the new one replaces.
async function checkRoom(deps: OrganisationDeps, accountId: string, invitationId: string): Promise<void> {
  const pending = await listInvitations(deps, accountId);
  const others = pending.filter(other => other.invitationId !== invitationId).length;
  if (others >= limits.invitationsPending)
    throw accountsErrors.create('accounts.too_many_invitations', 'Withdraw an invitation first.', {
      most: limits.invitationsPending,
    });
  const [account, open] = await Promise.all([readAccount(deps, accountId), deps.memberships.read(accountId)]);
  // The seat is taken when the invitation is accepted. This check only avoids sending one that could not be accepted.
  const seats = seatsOf(deps, account);
  if ((open?.members ?? 1) + others >= seats) throw seatsTaken(seats);
}

async function writeInvitation(
  deps: OrganisationDeps,
  actor: Actor,
  { invitationId, ...given }: NewInvitation & { invitationId: string },
  counted: Record<string, WriteStep>,
): Promise<Invitation> {
  const { accountId } = actor;
  const [account, open] = await Promise.all([readAccount(deps, accountId), deps.memberships.read(accountId)]);
  const { text, ...made } = newInvitation(deps, { accountId, invitationId });
  const { email, role } = given;
  const item = { ...made, ...given, invitedBy: actor.userId, createdAt: made.sentAt };
  const steps = {
    'the account': accountIsOpen(accountId),
    ...(open ? {} : deps.memberships.stepsToOpen(account)),
    'the invitation': write.put(invitation, item),
    audit: auditStep(deps, actor, 'invitation.sent', invitationId, `${email} as ${role}`),
    ...(await mailSteps(deps, actor, { ...item, organisation: open?.name ?? account.name, text })),
    ...counted,
  };
  await deps.store.transact(steps, { pattern: 'invite a member' });
  return item;
}

// Sends a new mail with a new link. The previous link stops working.
export async function resendInvitation(
  deps: OrganisationDeps,
  actor: Actor,
  id: string,
): Promise<Invitation> {
  const { store, throttle, memberships } = deps;
  const { accountId } = actor;
  needMail(deps);
  const found = await readInvitation(deps, accountId, id);
  checkManages(actor.role, found.role);
  const to = { email: found.email, address: actor.address };
  await throttle.tryMail({ ...to, purpose: 'invitation', sender: accountId });
  const [account, open] = await Promise.all([readAccount(deps, accountId), memberships.read(accountId)]);
  const { text, ...made } = newInvitation(deps, found);
  const { tokenHash, sentAt, expiresAt } = made;
  const steps = {
    'the invitation': write.update(
      invitation,
      { accountId, invitationId: id },
      { set: { tokenHash, sentAt, expiresAt, invitedBy: actor.userId } },
      { if: { tokenHash: found.tokenHash } },
    ),
    audit: auditStep(deps, actor, 'invitation.resent', id, found.email),
    ...(await mailSteps(deps, actor, { ...found, organisation: open?.name ?? account.name, text })),
  };
  await store.transact(steps, { pattern: 'send an invitation again' }).catch(explainGone);
  deps.outbox.wake();
  return { ...found, ...made, invitedBy: actor.userId };
}

export async function withdrawInvitation(deps: OrganisationDeps, actor: Actor, id: string): Promise<void> {
  const { accountId } = actor;
  const found = await readInvitation(deps, accountId, id);
  checkManages(actor.role, found.role);
  const steps = {
    'the invitation': write.delete(invitation, { accountId, invitationId: id }, { ifPresent: true }),
    audit: auditStep(deps, actor, 'invitation.withdrawn', id, found.email),
  };
  await deps.store.transact(steps, { pattern: 'withdraw an invitation' }).catch(explainGone);
}

// Invitations that can still be accepted.
export async function listInvitations(deps: OrganisationDeps, accountId: string): Promise<Invitation[]> {
  const invitations: Invitation[] = [];
  for await (const invitation of deps.store.all(invitationsOf, { accountId }))
    if (invitation.expiresAt > inSeconds(deps.clock.now())) invitations.push(invitation);
  const inviters = [...new Set(invitations.map(({ invitedBy }) => invitedBy))];
  const standings = await Promise.all(inviters.map(id => deps.memberships.roleIn(accountId, id)));
  return invitations.filter(({ invitedBy, role }) => mayInvite(standings[inviters.indexOf(invitedBy)], role));
}

// An invitation depends on the member who sent it: it is void once they may not invite any more.
const mayInvite = (inviter: Role | undefined, role: Role): boolean =>
  inviter !== undefined && roles[inviter].manages.includes(role);

// Shows what an invitation is for to the holder of its link.
export async function lookAtInvitation(deps: OrganisationDeps, text: string, { address }: Origin) {
  await deps.throttle.tryToken(address);
  const { found, account } = await findInvitation(deps, parseToken(text));
  if (!found || !account) throw tokenRefused();
  const [open, inviter] = await Promise.all([
    deps.memberships.read(found.accountId),
    deps.users.readProfile(found.invitedBy),
  ]);
  const { email, role, expiresAt } = found;
  return { name: open?.name ?? account.name, invitedBy: inviter?.name, email, role, expiresAt };
}

// One transaction takes the invitation and a seat and creates the member, so of two concurrent calls one succeeds. A
// repeated call with the same link, after a lost response, finds the membership that it created.
export async function acceptInvitation(
  deps: OrganisationDeps,
  signed: SessionOrigin,
  text: string,
): Promise<Standing> {
  await deps.throttle.tryToken(signed.address);
  const token = parseToken(text);
  const { accountId } = token;
  const { userId } = signed;
  const attempt = async (): Promise<Standing> => {
    const { found, account, inviter } = await findInvitation(deps, token);
    const current = await deps.store.get(member, { accountId, userId }, { consistent: true });
    if (!found || !account || !inviter) {
      if (account && current?.role && current.joinedHash === token.hash)
        return { accountId, role: current.role };
      throw tokenRefused();
    }
    const person = await deps.users.readProfile(userId);
    if (!person) throw userNotFound();
    if (person.email !== found.email)
      throw accountsErrors.create(
        'accounts.invitation_elsewhere',
        'This invitation was sent to another address. Sign in with that one.',
      );
    const role = await deps.memberships.roleIn(accountId, userId);
    if (role) return { accountId, role };
    const steps = acceptSteps(deps, signed, { token, found, account, inviter });
    await deps.store.transact(steps, { pattern: 'accept an invitation' }).catch(error => {
      throw failedStep(error)?.step === 'a seat' ? seatsTaken(seatsOf(deps, account)) : error;
    });
    return { accountId, role: found.role };
  };
  return settle(attempt, error => failedStep(error) !== undefined);
}

type Accepted = { token: InvitationToken; found: Invitation; account: Profile; inviter: Role };

function acceptSteps(
  deps: OrganisationDeps,
  { userId, sessionId, address, requestId }: SessionOrigin,
  { token, found, account, inviter }: Accepted,
): Record<string, WriteStep> {
  const { accountId, invitationId, role, email, invitedBy } = found;
  const now = isoTime(deps.clock.now());
  const stillGood = { tokenHash: token.hash, expiresAt: is.above(inSeconds(deps.clock.now())) };
  const isOpenStill = { deletingAt: is.absent, disabledAt: is.absent };
  const joined = { accountId, userId, role, joinedAt: now, joinedHash: token.hash, invitedBy };
  const by = { by: userId, via: 'session', credentialId: sessionId, address, requestId };
  return {
    'the invitation': write.delete(
      invitation,
      { accountId, invitationId },
      { ifPresent: true, if: stillGood },
    ),
    'a seat': write.update(
      organisation,
      { accountId },
      { add: { members: 1 }, set: { updatedAt: now } },
      { if: { members: is.below(seatsOf(deps, account)) } },
    ),
    'the member': write.put(member, joined, { if: { role: is.absent } }),
    'the inviter': write.check(
      member,
      { accountId, userId: invitedBy },
      { present: true, if: { role: inviter } },
    ),
    // The link was mailed to this address, which proves that it is theirs.
    'the person': write.update(
      profile,
      { userId },
      { set: { emailVerified: true } },
      { if: { email, ...isOpenStill } },
    ),
    // For a person who returns to the account with their own id, both are the same item.
    ...(accountId !== userId && { 'the account': accountIsOpen(accountId) }),
    audit: deps.audit.step(accountId, {
      ...by,
      action: 'member.joined',
      target: userId,
      detail: `${email} as ${role}`,
    }),
  };
}

async function findInvitation(deps: OrganisationDeps, { accountId, invitationId, hash }: InvitationToken) {
  const [found, account] = await Promise.all([
    deps.store.get(invitation, { accountId, invitationId }, { consistent: true }),
    deps.users.readProfile(accountId),
  ]);
  const inviter = found && (await deps.memberships.roleIn(accountId, found.invitedBy));
  const isGood =
    found?.tokenHash === hash &&
    found.expiresAt > inSeconds(deps.clock.now()) &&
    mayInvite(inviter, found.role);
  return { found: isGood ? found : undefined, account: isOpen(account) ? account : undefined, inviter };
}

function newInvitation(
  { clock }: OrganisationDeps,
  { accountId, invitationId }: { accountId: string; invitationId: string },
) {
  const secret = randomBytes(32).toString('base64url');
  const nowMs = clock.now();
  return {
    accountId,
    invitationId,
    tokenHash: sha256(secret),
    sentAt: isoTime(nowMs),
    expiresAt: inSeconds(nowMs) + limits.invitationS,
    text: `${accountId}.${invitationId}.${secret}`,
  };
}

async function mailSteps(
  { users, outbox }: OrganisationDeps,
  { accountId, userId }: Actor,
  mail: { email: string; role: Role; organisation: string; text: string },
) {
  const inviter = await users.readProfile(userId);
  const { email: to, role, organisation: name, text: token } = mail;
  // Unverified people must not have us send a name of their choice to strangers.
  const details = { role, ...(inviter?.emailVerified && { inviter: inviter.name, organisation: name }) };
  return outbox.steps({
    kind: 'organisation.invited',
    to,
    userId: accountId,
    details,
    token,
    keptS: limits.invitationS,
  });
}

async function readInvitation(deps: OrganisationDeps, accountId: string, invitationId: string) {
  const storedInvitation = await deps.store.get(
    invitation,
    { accountId, invitationId },
    { consistent: true },
  );
  if (!storedInvitation || storedInvitation.expiresAt <= inSeconds(deps.clock.now()))
    throw invitationNotFound();
  return storedInvitation;
}

async function readAccount({ users }: OrganisationDeps, accountId: string): Promise<Profile> {
  const account = await users.readProfile(accountId);
  if (!account) throw userNotFound();
  return account;
}

const auditStep = (deps: OrganisationDeps, actor: Actor, action: string, target: string, detail: string) =>
  deps.audit.step(actor.accountId, { ...actor.entry, action, target, detail });

const needMail = ({ outbox }: OrganisationDeps): void => {
  if (!outbox.isOpen)
    throw accountsErrors.create('accounts.no_mail', 'This server does not send mail. Ask its operator.');
};

const invitationNotFound = () =>
  accountsErrors.create('accounts.invitation_not_found', 'Invitation not found.');

function explainGone(error: unknown): never {
  throw failedStep(error)?.step === 'the invitation' ? invitationNotFound() : error;
}
