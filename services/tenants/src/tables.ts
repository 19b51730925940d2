import { type Condition, defineKeys, defineQuery, defineTable, entity, type ItemOf, is } from '@stak/table';
import { z } from 'zod';

// `settings`, `channel_identities`, `preferences` and `custom_properties` are JSON in a string, as documented: a
// reader of the document still reads them. On the wire they are objects.

export const tenantsKeys = defineKeys({
  name: 'tenants',
  description: 'Tenants, their users and the channels they are reached by.',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: { 'channel-mapping': { partition: 'gsi1pk', sort: 'gsi1sk' } },
  ttl: 'ttl',
  stream: 'NEW_AND_OLD_IMAGES',
});

export const tenant = entity(tenantsKeys, {
  name: 'tenant',
  description:
    'A tenant and its settings. A deleted one stays as a tombstone, so that its id is never used again.',
  schema: z.object({
    tenant_id: z.string(),
    account_id: z.string().describe('its owner'),
    name: z.string(),
    status: z.enum(['onboarding', 'active', 'suspended', 'deleted']),
    created_at: z.string(),
    updated_at: z.string(),
    settings: z.string().describe('JSON'),
    settings_version: z.number().int(),
    tokens_revoked_at: z.number().optional().describe('second; end-user tokens issued until then are void'),
    deleted_at: z.string().optional(),
    erasure_id: z.string().optional().describe('the job that deletes it'),
    request_key: z.string().optional().describe('of the request that created it'),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'META' },
  version: 'version',
  examples: [
    {
      tenant_id: 'outlocks',
      account_id: 'usr_0mjuxvy9s00abcdefghijklm',
      name: 'Outlocks',
      status: 'active',
      created_at: '2026-02-21T14:30:00.000Z',
      updated_at: '2026-02-21T14:30:00.000Z',
      settings: '{"ai_provider":"bedrock"}',
      settings_version: 1,
    },
  ],
});

export const accountTenant = entity(tenantsKeys, {
  name: 'tenant of an account',
  description: 'Lists the tenants of an account, which would otherwise take a Scan.',
  schema: z.object({ account_id: z.string(), tenant_id: z.string(), created_at: z.string() }),
  key: { partition: 'ACCOUNT#{account_id}', sort: 'TENANT#{tenant_id}' },
});

export const tenantCount = entity(tenantsKeys, {
  name: 'count of tenants',
  description: 'How many tenants an account has, if its plan limits them.',
  schema: z.object({
    account_id: z.string(),
    count: z.number().int(),
    counted_at_ms: z.number().describe('when they were last counted one by one'),
    version: z.number().int(),
  }),
  key: { partition: 'ACCOUNT#{account_id}', sort: 'COUNT' },
  version: 'version',
});

export const user = entity(tenantsKeys, {
  name: 'user',
  schema: z.object({
    tenant_id: z.string(),
    user_id: z.string(),
    email: z.string().optional(),
    display_name: z.string(),
    role: z.enum(['admin', 'member']),
    channel_identities: z.string().describe('JSON: {"slack": "U12345"}'),
    preferences: z.string().describe('JSON'),
    custom_properties: z.string().describe("JSON, of the tenant's own schema"),
    memory_summary: z.string().optional(),
    memory_updated_at: z.string().optional(),
    memory_edited_at: z.string().optional().describe('when a person edited the summary'),
    created_at: z.string(),
    updated_at: z.string(),
    request_key: z.string().optional().describe('of the request that created it'),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'USER#{user_id}' },
  inKeyOnly: ['tenant_id'],
  version: 'version',
  examples: [
    {
      tenant_id: 'outlocks',
      user_id: 'admin',
      email: 'ann@example.com',
      display_name: 'Ann',
      role: 'admin',
      channel_identities: '{"slack":"U12345"}',
      preferences: '{}',
      custom_properties: '{}',
      created_at: '2026-02-21T14:30:00.000Z',
      updated_at: '2026-02-21T14:30:00.000Z',
    },
  ],
});

export const userCount = entity(tenantsKeys, {
  name: 'count of users',
  description: 'How many users a tenant has, if the plan of its account limits them.',
  schema: z.object({
    tenant_id: z.string(),
    count: z.number().int(),
    counted_at_ms: z.number().describe('when they were last counted one by one'),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'COUNT' },
  version: 'version',
});

export const emailLock = entity(tenantsKeys, {
  name: 'e-mail of a user',
  description: 'Makes an address unique in its tenant, and finds its user. In lower case.',
  schema: z.object({ tenant_id: z.string(), email: z.string(), user_id: z.string() }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'EMAIL#{email}' },
});

export const identityLock = entity(tenantsKeys, {
  name: 'channel identity of a user',
  description: 'Makes an identity unique in its tenant, and finds its user.',
  schema: z.object({
    tenant_id: z.string(),
    channel: z.string(),
    identity: z.string(),
    user_id: z.string(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'IDENT#{channel}#{identity}' },
});

export const channelMapping = entity(tenantsKeys, {
  name: 'channel mapping',
  schema: z.object({
    tenant_id: z.string(),
    type: z.string(),
    channel_id: z.string(),
    created_at: z.string(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'CHANNEL#{type}#{channel_id}' },
  indexes: {
    'channel-mapping': { partition: 'CHANNEL#{type}#{channel_id}', sort: 'TENANT#{tenant_id}' },
  },
  // As documented, a mapping is its keys: one that another program wrote is read like our own.
  inKeyOnly: ['tenant_id', 'type', 'channel_id'],
  examples: [
    {
      tenant_id: 'outlocks',
      type: 'teams',
      channel_id: 'azure-bot-app-id',
      created_at: '2026-02-21T14:30:00.000Z',
    },
  ],
});

export const channelClaim = entity(tenantsKeys, {
  name: 'channel claim',
  description:
    'The tenant that a channel belongs to. The index cannot enforce this: it may be out of date, and contain two.',
  schema: z.object({ type: z.string(), channel_id: z.string(), tenant_id: z.string() }),
  key: { partition: 'CHANNEL#{type}#{channel_id}', sort: 'CLAIM' },
});

export const propertiesSchema = entity(tenantsKeys, {
  name: 'schema of custom properties',
  schema: z.object({
    tenant_id: z.string(),
    schema: z.string().describe('JSON Schema, as JSON'),
    updated_at: z.string(),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'SCHEMA' },
  version: 'version',
});

export const invitation = entity(tenantsKeys, {
  name: 'invitation',
  description: 'One for each address; a new one replaces it.',
  schema: z.object({
    tenant_id: z.string(),
    invitation_id: z.string(),
    email: z.string(),
    role: z.enum(['admin', 'member']),
    user_id: z.string().describe('the user it will create'),
    token_hash: z.string().describe('SHA-256; the token itself was shown once'),
    invited_by: z.string().optional().describe('an admin of the tenant: it is void once they are none'),
    created_at: z.string(),
    expires_at: z.string(),
    ttl: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'INVITE#{invitation_id}' },
});

export const tokenEpoch = entity(tenantsKeys, {
  name: 'token epoch of a user',
  description: 'Tokens issued until then are void. Expires when the last of them has expired.',
  schema: z.object({
    tenant_id: z.string(),
    user_id: z.string(),
    tokens_revoked_at: z.number(),
    ttl: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'TOKENS#{user_id}' },
});

export const signIn = entity(tenantsKeys, {
  name: 'sign-in of a user',
  description: 'A mailed code and link. Either works once, and the first use deletes the item.',
  schema: z.object({
    tenant_id: z.string(),
    sign_in_id: z.string(),
    user_id: z.string(),
    email_hash: z.string().describe('of the address it was sent to: valid while that is the user’s address'),
    attempt_hash: z.string().describe('of the requesting browser’s secret: a code works only there'),
    code_hash: z.string(),
    link_hash: z.string(),
    tries: z.number().int(),
    created_at: z.string(),
    ttl: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'SIGNIN#{sign_in_id}' },
});

export const portalSession = entity(tenantsKeys, {
  name: 'session of a user',
  description: 'A user who has signed in to the portal, on one device.',
  schema: z.object({
    tenant_id: z.string(),
    user_id: z.string(),
    session_id: z.string(),
    sealed_secret: z.string().describe('the key that authenticates its cookies'),
    generation: z.number().int().describe('of the cookie; reuse of an older one means that it was copied'),
    rotated_at_ms: z.number(),
    user_agent: z.string().optional(),
    started_at: z.number().int().describe('second; a later revocation ends it'),
    last_used_at: z.string(),
    ends_at: z.number().int().describe('second at which it ends, however often it is refreshed'),
    ttl: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'SESSION#{user_id}#{session_id}' },
});
export type PortalSession = ItemOf<typeof portalSession>;

export const portalProvider = entity(tenantsKeys, {
  name: 'provider of a tenant',
  description: 'The OpenID Connect provider through which users sign in to the portal.',
  schema: z.object({
    tenant_id: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    sealed_secret: z.string(),
    domains: z.array(z.string()).describe('of the addresses that may sign in'),
    creates_users: z.boolean(),
    matches_addresses: z.boolean().describe('whether a verified address finds the user who has it'),
    updated_at: z.string(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'PROVIDER' },
});

export const erasure = entity(tenantsKeys, {
  name: 'erasure',
  description: 'A job that erases a tenant or one of its users in every service, and its progress.',
  schema: z.object({
    tenant_id: z.string(),
    erasure_id: z.string(),
    account_id: z.string(),
    subject: z.enum(['tenant', 'user']),
    user_id: z.string().optional(),
    status: z.enum(['waiting', 'running', 'done']),
    steps: z.array(z.string()).describe('services that must erase'),
    steps_done: z.array(z.string()),
    due_at: z.number().describe('millisecond before which no process takes it: grace, lease or backoff'),
    owner: z.string().optional().describe('the worker that has it'),
    failures: z.number().int().describe('in a row'),
    created_at: z.string(),
    finished_at: z.string().optional(),
    ttl: z.number().int().optional(),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'ERASURE#{erasure_id}' },
  version: 'version',
});

export const openErasure = entity(tenantsKeys, {
  name: 'open erasure',
  description: 'Finds the jobs that are not done, however long ago the process that had them died.',
  schema: z.object({ erasure_id: z.string(), tenant_id: z.string() }),
  key: { partition: 'ERASURES', sort: 'ERASURE#{erasure_id}' },
});

export const tenantsOfAccount = defineQuery('tenants of an account', { of: accountTenant, consistent: true });
export const usersOfTenant = defineQuery('users of a tenant', { of: user, consistent: true });
export const channelsOfTenant = defineQuery('channels of a tenant', { of: channelMapping, consistent: true });
export const invitationsOfTenant = defineQuery('invitations of a tenant', {
  of: invitation,
  consistent: true,
});
export const sessionsOfUser = defineQuery('sessions of a user', { of: portalSession, consistent: true });
export const signInsOfTenant = defineQuery('sign-ins of a tenant', { of: signIn, consistent: true });
export const tenantOfChannel = defineQuery('tenant of a channel', {
  of: channelMapping,
  index: 'channel-mapping',
});
export const openErasures = defineQuery('open erasures', { of: openErasure, consistent: true });
// All but the tombstone. An erasure that is still open is left for the worker that holds it.
export const everythingOfTenant = defineQuery('everything of a tenant', {
  of: [
    user,
    userCount,
    emailLock,
    identityLock,
    channelMapping,
    propertiesSchema,
    invitation,
    tokenEpoch,
    signIn,
    portalSession,
    portalProvider,
    erasure,
  ],
  consistent: true,
});

// For writes that must not restore a deleted tenant.
export const notDeleted: Condition<ItemOf<typeof tenant>> = { status: is.not('deleted') };

export const tenants = defineTable(tenantsKeys, {
  entities: [
    tenant,
    accountTenant,
    tenantCount,
    user,
    userCount,
    emailLock,
    identityLock,
    channelMapping,
    channelClaim,
    propertiesSchema,
    invitation,
    tokenEpoch,
    signIn,
    portalSession,
    portalProvider,
    erasure,
    openErasure,
  ],
  queries: [
    tenantsOfAccount,
    usersOfTenant,
    channelsOfTenant,
    invitationsOfTenant,
    sessionsOfUser,
    signInsOfTenant,
    tenantOfChannel,
    openErasures,
    everythingOfTenant,
  ],
});
