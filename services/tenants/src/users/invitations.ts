import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PageRequest } from '@stak/http';
import { failedCondition, type ItemOf, type NamedStep, write } from '@stak/table';
import { type EnteredTenant, readOpenTenant, suspended } from '../access/gate.ts';
import { type Service, timestampOf } from '../deps.ts';
import { tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { mailedBrand } from '../portal/branding.ts';
import type { NewInvitation } from '../schema.ts';
import { invitation, invitationsOfTenant, user } from '../table.ts';
import { checkRoom, roomFor, usersCounted } from '../tenants/counts.ts';
import { invitationIdOf } from './user-locks.ts';
import {
  addUser,
  creationSteps,
  findByEmail,
  newUserItem,
  refusalOf,
  reserve,
  type User,
  userOf,
} from './users.ts';

type InvitationItem = ItemOf<typeof invitation>;
export type Invitation = Omit<InvitationItem, 'token_hash' | 'ttl' | 'invited_by'>;

const dayMs = 24 * 60 * 60 * 1000;
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const show = ({ token_hash: _, ttl: __, invited_by: ___, ...shown }: InvitationItem): Invitation => shown;

// The token contains the key of its invitation, so that one read finds it. None of its parts contains a dot.
const tokenOf = ({ tenant_id, invitation_id }: Invitation, secret: string): string =>
  `${tenant_id}.${invitation_id}.${secret}`;
const tokenShape = /^([a-z0-9-]{3,63})\.(inv_[0-9a-z]{24})\.([A-Za-z0-9_-]{43})$/;

export async function createInvitation(
  deps: Service,
  entered: EnteredTenant,
  body: NewInvitation,
  { isMailed, invited_by }: { isMailed: boolean; invited_by?: string },
): Promise<Invitation & { token: string }> {
  const { store, clock, ids, portal } = deps;
  const { tenant_id } = entered;
  if (isMailed && !portal?.mail)
    throw tenantErrors.create('tenants.no_mail', 'This server does not send mail. Ask its operator.');
  const email = body.email.toLowerCase();
  if ((await findByEmail(deps, tenant_id, email)).items.length > 0)
    throw tenantErrors.create('tenants.email_taken', 'A user already has this e-mail address.');
  const limit = await roomFor(deps, entered.account_id, 'usersPerTenant');
  await checkRoom(deps, usersCounted(deps, tenant_id), limit);
  const secret = randomBytes(limits.invitationSecretBytes).toString('base64url');
  const expiresMs = clock.now() + body.ttl_days * dayMs;
  const item = {
    tenant_id,
    invitation_id: invitationIdOf(tenant_id, email),
    email: body.email,
    role: body.role,
    user_id: body.user_id ?? ids.next('u'),
    token_hash: hashOf(secret),
    ...(invited_by !== undefined && { invited_by }),
    created_at: timestampOf(clock.now()),
    expires_at: timestampOf(expiresMs),
    ttl: Math.floor(expiresMs / 1000),
  };
  const token = tokenOf(item, secret);
  if (!isMailed) await store.put(invitation, item);
  else {
    const mail = portal!.mail!;
    await mail.tryInvitation({ email, account: entered.account_id });
    const details = await mailedBrand(mail, entered);
    const keptS = body.ttl_days * (dayMs / 1000);
    const mailed = mail.steps({ kind: 'tenant.invited', to: body.email, details, token, keptS });
    await store.transact({ 'the invitation': write.put(invitation, item), ...mailed }, { pattern: 'invite' });
    mail.wake();
  }
  return { ...show(item), token };
}

export async function listInvitations(
  { store }: Service,
  tenant_id: string,
  page: PageRequest,
): Promise<{ items: Invitation[]; cursor?: string }> {
  const { items, cursor } = await store.query(invitationsOfTenant, { tenant_id }, page);
  return { items: items.map(show), cursor };
}

// The same response for an unknown, used, revoked or expired invitation, and for one of a deleted tenant.
const noInvitation = () =>
  tenantErrors.create('tenants.invitation_not_found', 'Invitation not found, or it has expired.');

export async function revokeInvitation(
  { store }: Service,
  tenant_id: string,
  invitation_id: string,
): Promise<void> {
  const gone = await store.delete(invitation, { tenant_id, invitation_id });
  if (!gone) throw noInvitation();
}

export type Accepted = { user: User; invitation: Invitation; account_id: string };

// The holder of the token becomes the user. The invitation is removed in the same transaction, so it is used once.
export async function acceptInvitation(
  deps: Service,
  { token, display_name }: { token: string; display_name: string },
): Promise<Accepted> {
  const [, tenant_id, invitation_id, secret] = tokenShape.exec(token) ?? [];
  if (!tenant_id || !invitation_id || !secret) throw noInvitation();
  const found = await deps.store.get(invitation, { tenant_id, invitation_id }, { consistent: true });
  if (!found || !isHashOf(found.token_hash, secret)) throw noInvitation();
  const entered = await readOpenTenant(deps, tenant_id);
  if (!entered) throw noInvitation();
  if (entered.status === 'suspended') throw suspended();

  const { user_id, email, role, invited_by } = found;
  const rest = { display_name, channel_identities: {}, preferences: {}, custom_properties: {} };
  const item = newUserItem(deps, { ...rest, tenant_id, user_id, email, role });
  const use = write.delete(
    invitation,
    { tenant_id, invitation_id },
    { ifPresent: true, if: { token_hash: found.token_hash } },
  );
  // An admin who is none any more must not come back by an invitation to another address of theirs.
  const isAdmin = { present: true, if: { role: 'admin' as const } } as const;
  const inviter: NamedStep[] =
    invited_by === undefined
      ? []
      : [['the inviter', write.check(user, { tenant_id, user_id: invited_by }, isAdmin)]];
  try {
    const steps: NamedStep[] = [['use the invitation', use], ...inviter, ...creationSteps(item)];
    await reserve(deps, tenant_id, { ...rest, email }, () =>
      addUser(deps, entered, steps, 'accept an invitation'),
    );
  } catch (error) {
    const { step } = failedCondition(error) ?? {};
    throw step === 'use the invitation' || step === 'the inviter' ? noInvitation() : refusalOf(error);
  }
  return { user: userOf(item), invitation: show(found), account_id: entered.account_id };
}

const isHashOf = (hash: string, secret: string): boolean =>
  timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashOf(secret), 'hex'));
