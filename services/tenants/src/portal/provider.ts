import { createHash } from 'node:crypto';
import { nameSchemas, versionMismatch } from '@stak/http';
import { type ItemOf, is, isRefused, write } from '@stak/table';
import { z } from 'zod';
import type { EnteredTenant } from '../access/gate.ts';
import { type PortalDeps, type ProviderIdentity, type Service, timestampOf } from '../deps.ts';
import { tenantErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { displayText, email } from '../schema.ts';
import { portalProvider, user } from '../tables.ts';
import { openidChannel } from '../users/portal-sessions.ts';
import { createUser, findByEmail, findByIdentity, patchUser } from '../users/users.ts';
import { type Deps, type SignedIn, startSession } from './sessions.ts';

// The OpenID Connect provider of a tenant, through which its users sign in to the portal. The identity there belongs to
// the user like those on channels: it is unique in the tenant, and deleted with the user.

export type PortalProvider = ItemOf<typeof portalProvider>;

const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(limits.domainChars)
  .regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/, 'Like example.com');

export const providerBody = z.strictObject({
  issuer: z.string().min(1).max(limits.issuerChars).describe('The issuer URL, which must be https'),
  client_id: z.string().min(1).max(limits.clientChars).describe('The client id that the provider assigned'),
  client_secret: z
    .string()
    .min(1)
    .max(limits.clientChars)
    .optional()
    .describe(
      'Stored encrypted, and never returned. Without it, the previous secret of the same issuer stays',
    ),
  domains: z
    .array(domain)
    .min(1)
    .max(limits.domains)
    .describe('The domains of the addresses that can sign in'),
  creates_users: z.boolean().default(false).describe('Whether people who are not users yet become members'),
  matches_addresses: z
    .boolean()
    .default(false)
    .describe(
      'Whether a verified address matches the user who has it. The provider can then sign in as any of your users, so only the account can turn this on',
    ),
});

export const providerShape = z.strictObject({
  tenant_id: z.string().describe('The id of the tenant.'),
  issuer: z.string().describe('The address of the OpenID Connect provider.'),
  client_id: z.string().describe('The client id that the provider assigned'),
  domains: z.array(z.string()).describe('The domains of addresses that may come in.'),
  creates_users: z.boolean().describe('Whether people who are not users yet become members'),
  matches_addresses: z.boolean().describe('Whether a verified address matches the user who has it'),
  redirect_uri: z.string().describe('The redirect URI to register with the provider'),
  updated_at: z.string().describe('When it was last changed.'),
});
nameSchemas({ PortalProvider: providerShape });

const sealLocation = (tenant_id: string) => `tenants/TENANT#${tenant_id}/PROVIDER/sealed_secret`;

export const ownerOf = (tenant_id: string) => ({ name: 'tenant', organisationId: tenant_id }) as const;
export const redirectUriOf = ({ publicUrl }: PortalDeps, tenant_id: string): string =>
  new URL(`/v1/portal/${tenant_id}/provider/callback`, publicUrl).href;

export const showProvider = (
  portal: PortalDeps,
  { sealed_secret: _, ...shown }: PortalProvider,
): z.infer<typeof providerShape> => ({ ...shown, redirect_uri: redirectUriOf(portal, shown.tenant_id) });

export const clientOf = ({ sealer }: PortalDeps, provider: PortalProvider) => ({
  issuer: provider.issuer,
  clientId: provider.client_id,
  version: provider.updated_at,
  openSecret: () => sealer.openText(provider.sealed_secret, sealLocation(provider.tenant_id)),
});

const noProvider = () =>
  tenantErrors.create('tenants.provider_not_found', 'The tenant has no provider of its own.');
const refused = (detail: string) => tenantErrors.create('tenants.provider_refused', detail);
// Only the tenant's admins may know which of the reasons it is.
export const userRefused = () =>
  tenantErrors.create('tenants.sign_in_refused', 'The provider does not give you access to this portal.');

export const findProvider = ({ store }: Pick<Service, 'store'>, tenant_id: string) =>
  store.get(portalProvider, { tenant_id }, { consistent: true });

export async function requireProvider(deps: Pick<Service, 'store'>, tenant_id: string) {
  const found = await findProvider(deps, tenant_id);
  if (!found) throw noProvider();
  return found;
}

// Whether an address identifies a user must be set again each time, and an admin of the tenant may not set it: with an
// issuer of their own, they could sign in as any user.
export async function writeProvider(
  deps: Deps,
  tenant_id: string,
  { client_secret, ...wanted }: z.infer<typeof providerBody>,
): Promise<PortalProvider> {
  const { store, clock, portal } = deps;
  if (!portal.issuers) throw refused('This server does not connect to other providers.');
  const refusal = portal.issuers.refusalOf(wanted.issuer);
  if (refusal !== undefined) throw refused(`The issuer cannot be used: ${refusal}`);
  const before = await findProvider(deps, tenant_id);
  // A stored secret is sent to no other issuer: an admin of the tenant, who may not read it, could name their own.
  const known = before?.issuer === wanted.issuer ? before.sealed_secret : undefined;
  const sealed_secret =
    client_secret === undefined ? known : portal.sealer.seal(client_secret, sealLocation(tenant_id));
  if (sealed_secret === undefined) throw refused('A new provider needs its client secret.');
  // Always a new time, because it identifies the version of the settings.
  const nowMs = Math.max(clock.now(), before ? Date.parse(before.updated_at) + 1 : 0);
  const item = { tenant_id, ...wanted, sealed_secret, updated_at: timestampOf(nowMs) };
  try {
    await store.put(portalProvider, item, { if: { updated_at: before?.updated_at ?? is.absent } });
  } catch (error) {
    throw isRefused(error) ? versionMismatch() : error;
  }
  return item;
}

export async function removeProvider({ store }: Service, tenant_id: string): Promise<void> {
  if (!(await store.delete(portalProvider, { tenant_id }))) throw noProvider();
}

export type ProviderSession = { session: SignedIn; user_id: string; isNew: boolean };

// A returning user is known by issuer and subject. The address that the provider claims identifies a user only if the
// account has allowed that.
export async function signInThrough(
  deps: Deps,
  entered: EnteredTenant,
  provider: PortalProvider,
  identity: ProviderIdentity,
  userAgent: string | undefined,
): Promise<ProviderSession> {
  const { tenant_id } = entered;
  const address = checkDomain(provider, identity);
  const subject = createHash('sha256').update(`${provider.issuer}\n${identity.id}`).digest('hex');
  for (let isNew = false, left = limits.refreshAttempts; left > 0; left--) {
    const [person] = (await findByIdentity(deps, tenant_id, openidChannel, subject)).items;
    if (!person) {
      isNew = await admit(deps, entered, provider, { address, subject, name: identity.name });
      continue;
    }
    const { user_id, role, version } = person;
    const isThere = write.check(user, { tenant_id, user_id }, { present: true, if: { version } });
    try {
      const settings = { present: true as const, if: { updated_at: provider.updated_at } };
      const session = await startSession(deps, { tenant_id, user_id, role }, userAgent, [
        ['the user', isThere],
        ['the provider', write.check(portalProvider, { tenant_id }, settings)],
      ]);
      return { session, user_id, isNew };
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
  throw userRefused();
}

type ProviderPerson = { address: string; subject: string; name: string | undefined };

// Creates the user, or finds an existing one. After a conflict with a concurrent sign-in, the next attempt finds the
// user.
async function admit(
  deps: Deps,
  entered: EnteredTenant,
  provider: PortalProvider,
  comer: ProviderPerson,
): Promise<boolean> {
  const { tenant_id, matches_addresses, creates_users } = provider;
  const channel_identities = { [openidChannel]: comer.subject };
  const found = matches_addresses ? (await findByEmail(deps, tenant_id, comer.address)).items[0] : undefined;
  try {
    if (found) {
      if (found.channel_identities[openidChannel] !== undefined) throw userRefused();
      await patchUser(deps, tenant_id, found.user_id, { channel_identities }, String(found.version));
      return true;
    }
    if (!creates_users) throw userRefused();
    await createUser(deps, entered, {
      display_name: nameOf(comer),
      role: 'member',
      ...(matches_addresses && { email: comer.address }),
      channel_identities,
      preferences: {},
      custom_properties: {},
    });
    return true;
  } catch (error) {
    const codes = ['tenants.identity_taken', 'tenants.email_taken', 'http.version_mismatch'];
    if (codes.includes((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}

function nameOf({ name, address }: ProviderPerson): string {
  const parsed = displayText.safeParse(name);
  return parsed.success ? parsed.data : address;
}

// The provider decides who its people are; the domains decide which of them may sign in.
function checkDomain({ domains }: PortalProvider, identity: ProviderIdentity): string {
  const parsed = email.safeParse(identity.email);
  const address = parsed.data?.toLowerCase();
  const isMeant = address !== undefined && domains.includes(address.slice(address.lastIndexOf('@') + 1));
  if (isMeant && identity.isEmailVerified && identity.id.length <= limits.subjectChars) return address;
  throw userRefused();
}
