import type { Ids } from '@stak/kit';
import type { Audit } from '../../audit.ts';
import { accountsErrors } from '../../errors.ts';
import { nameChars } from '../../limits.ts';
import type { Profile } from '../../main-table.ts';
import type { Origin } from '../../origin.ts';
import { emailSchema, nameSchema } from '../../schema.ts';
import { settle } from '../../settle.ts';
import { readUser, type Users } from '../../users/users.ts';
import { hasFactor } from '../credentials/tables.ts';
import { refuse } from './errors.ts';
import { type Identity, type ProviderName, providerTitles } from './provider.ts';

export type IdentityDeps = { users: Users; audit: Audit; ids: Ids };
export type IdentityClaim = { provider: ProviderName; identity: Identity };

export const idOf = { github: 'githubId', google: 'googleId' } as const;

// Returns the account that the identity is linked to, or the one with its verified address, or a new one.
export function findAccount(deps: IdentityDeps, claim: IdentityClaim, origin: Origin): Promise<Profile> {
  const { users } = deps;
  const attempt = async () => {
    const linked = await users.findProfile(idOf[claim.provider], claim.identity.id);
    if (linked) return linked;
    const email = verifiedEmail(claim);
    const owner = await users.findProfile('email', email);
    return owner ? joinAccount(deps, owner, claim, origin) : createAccount(deps, email, claim, origin);
  };
  const races = ['accounts.changed', 'accounts.email_taken', 'accounts.identity_taken'];
  return settle(attempt, error => accountsErrors.includes(error) && races.includes(error.code));
}

// Links the identity only if the account's address is verified: otherwise a stranger could sign up with somebody else's
// address and wait for its owner to sign in. Accounts with a second factor are not linked either, because access to the
// mailbox is enough to create an identity with its address. Their owners sign in as before and link the provider.
async function joinAccount(
  deps: IdentityDeps,
  owner: Profile,
  claim: IdentityClaim,
  origin: Origin,
): Promise<Profile> {
  const { provider } = claim;
  if (!owner.emailVerified || hasFactor(owner))
    throw refuse(
      'accounts.link_refused',
      `There is an account with this e-mail address. Sign in to it as before and link ${providerTitles[provider]} there.`,
    );
  return link(deps, owner, claim, { via: provider, ...origin });
}

function createAccount(
  { users, audit, ids }: IdentityDeps,
  email: string,
  { provider, identity }: IdentityClaim,
  origin: Origin,
): Promise<Profile> {
  const userId = ids.next('usr');
  const entry = { action: 'account.created', via: provider, target: userId, ...origin };
  return users.create(
    { email, emailVerified: true, name: displayName(identity, email), [idOf[provider]]: identity.id },
    { audit: audit.step(userId, entry) },
    userId,
  );
}

// The caller has signed in to both the account and the provider, so the addresses may differ.
export function linkIdentity(
  deps: IdentityDeps,
  { userId, credentialId, ...known }: IdentityClaim & { userId: string; credentialId: string },
  origin: Origin,
): Promise<Profile> {
  return settle(async () => {
    const user = await readUser(deps.users, userId);
    if (user[idOf[known.provider]] === known.identity.id) return user;
    return link(deps, user, known, { via: 'session', credentialId, ...origin });
  });
}

async function link(
  { users, audit }: IdentityDeps,
  user: Profile,
  { provider, identity }: IdentityClaim,
  by: Origin & { via: string; credentialId?: string },
): Promise<Profile> {
  const title = providerTitles[provider];
  if (user[idOf[provider]] !== undefined)
    throw refuse(
      'accounts.link_refused',
      `The account is linked to another account at ${title}. Unlink it first.`,
    );
  const isProven = identity.isEmailVerified && emailSchema.safeParse(identity.email).data === user.email;
  const step = audit.step(user.userId, {
    action: 'identity.linked',
    target: `${provider}:${identity.id}`,
    ...by,
  });
  return users.update(
    user.userId,
    { [idOf[provider]]: identity.id, ...(isProven && { emailVerified: true }) },
    { ifVersion: user.version, also: { audit: step } },
  );
}

// Whether the user can sign in without a passkey. Providers that this server does not have configured do not count.
export const hasWayIn = (user: Profile, configured: readonly ProviderName[]): boolean =>
  user.passwordHash !== undefined ||
  user.madeFor !== undefined ||
  configured.some(name => user[idOf[name]] !== undefined);

// Refuses to remove the last way to sign in.
export function unlinkIdentity(
  { users, audit }: IdentityDeps,
  given: {
    userId: string;
    credentialId: string;
    provider: ProviderName;
    configured: readonly ProviderName[];
  },
  origin: Origin,
): Promise<Profile> {
  const { userId, provider } = given;
  return settle(async () => {
    const user = await readUser(users, userId);
    const id = user[idOf[provider]];
    if (id === undefined)
      throw refuse(
        'accounts.provider_not_linked',
        `The account is not linked to ${providerTitles[provider]}.`,
      );
    const others = given.configured.filter(name => name !== provider);
    if ((user.passkeys ?? 0) === 0 && !hasWayIn(user, others))
      throw refuse(
        'accounts.last_sign_in',
        'This is the only way to sign in to the account. Set a password or link another one first.',
      );
    const by = { via: 'session', credentialId: given.credentialId, ...origin };
    const step = audit.step(userId, { action: 'identity.unlinked', target: `${provider}:${id}`, ...by });
    return users.update(
      userId,
      { [idOf[provider]]: null },
      { ifVersion: user.version, also: { audit: step } },
    );
  });
}

function verifiedEmail({ provider, identity }: IdentityClaim): string {
  const email = emailSchema.safeParse(identity.email);
  if (identity.isEmailVerified && email.success) return email.data;
  const title = providerTitles[provider];
  throw refuse(
    'accounts.provider_email_unverified',
    `${title} knows no verified e-mail address of yours. Verify the primary one there and try again.`,
  );
}

export function displayName({ name }: Pick<Identity, 'name'>, email: string): string {
  const printable = name
    ?.replaceAll(/\p{Cc}/gu, '')
    .slice(0, nameChars)
    .toWellFormed();
  const shown = nameSchema.safeParse(printable);
  return shown.success ? shown.data : email.slice(0, email.indexOf('@')).slice(0, nameChars);
}
