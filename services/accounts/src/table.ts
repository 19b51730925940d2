import { defineKeys, defineQuery, entity, type ItemOf, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { appScopeSchema } from './oauth-server/scopes.ts';
import { mailTopics, permissionSchema, planSchema } from './schema.ts';

const time = z.string().describe('ISO timestamp');
const expiresAt = z.int().describe('The second after which it is gone');

export const ferryhookKeys = defineKeys({
  name: 'ferryhook-main',
  description: 'Developers, their keys and sessions, and the sources and connections of their webhooks.',
  keys: { partition: 'PK', sort: 'SK' },
  indexes: {
    GSI1: { partition: 'GSI1PK', sort: 'GSI1SK' },
    GSI2: { partition: 'GSI2PK', sort: 'GSI2SK' },
    GSI3: { partition: 'GSI3PK', sort: 'GSI3SK' },
  },
  ttl: 'expiresAt',
  stream: 'NEW_AND_OLD_IMAGES',
});

export const profile = entity(ferryhookKeys, {
  name: 'user',
  description: 'A developer. What is used in a month is counted elsewhere, so that this item stays cool.',
  schema: z.object({
    userId: z.string(),
    email: z.string(),
    emailVerified: z.boolean().optional().describe('Whether someone proved to own the address'),
    name: z.string(),
    passwordHash: z.string().optional().describe('scrypt, with its parameters; absent if OAuth only'),
    plan: planSchema,
    secondFactor: z.enum(['totp']).optional().describe('What a sign-in with a password needs besides'),
    passkeys: z.int().optional().describe('How many they have; counted here, so that the last way in stays'),
    planFixed: z.boolean().optional().describe('An operator chose the plan: the default does not apply'),
    disabledAt: time.optional().describe('Since when an operator lets nobody in'),
    stripeCustomerId: z.string().optional(),
    stripeSubId: z.string().optional(),
    githubId: z.string().optional(),
    googleId: z.string().optional(),
    signsInto: z.string().optional().describe('The organisation that they worked in last'),
    madeFor: z
      .string()
      .optional()
      .describe('The organisation whose provider brought them, and whose they are'),
    claimedEmail: z
      .string()
      .optional()
      .describe('Their address as that provider has it: shown, and good for nothing else'),
    mailsOff: z.array(z.enum(mailTopics)).optional().describe('The notices that they do not want by mail'),
    isOrganisation: z.boolean().optional().describe('No person: nobody signs in with it'),
    createdAt: time,
    updatedAt: time,
    deletingAt: time.optional().describe('Since when it is being deleted: nothing new may be made for it'),
    version: z.int(),
  }),
  key: { partition: 'USER#{userId}', sort: 'PROFILE' },
  indexes: { GSI1: { partition: 'EMAIL#{email}', sort: 'USER' } },
  version: 'version',
});
export type Profile = ItemOf<typeof profile>;

export const lakeTexts = entity(ferryhookKeys, {
  name: 'texts in the lake',
  description:
    'An account that wants its conversations and the bodies of its webhooks in the lake. All in one partition: they are few, and the lake reads all of them at once.',
  schema: z.object({
    accountId: z.string(),
    sinceMs: z.int().describe('What was said or received earlier is not kept'),
  }),
  key: { partition: 'LAKETEXTS', sort: 'ACCOUNT#{accountId}' },
});
export const accountsWithTexts = defineQuery('accounts with texts in the lake', {
  of: lakeTexts,
  consistent: true,
});

// One item for each thing that may belong to one user only, written in the user's own transaction. An index
// could not do this: it is written after the fact and cannot refuse.
const lockItem = { userId: z.string() };
export const emailLock = entity(ferryhookKeys, {
  name: 'e-mail lock',
  schema: z.object({ email: z.string(), ...lockItem }),
  key: { partition: 'EMAIL#{email}', sort: 'LOCK' },
});
export const githubLock = entity(ferryhookKeys, {
  name: 'GitHub lock',
  schema: z.object({ githubId: z.string(), ...lockItem }),
  key: { partition: 'GITHUB#{githubId:text}', sort: 'LOCK' },
});
export const googleLock = entity(ferryhookKeys, {
  name: 'Google lock',
  schema: z.object({ googleId: z.string(), ...lockItem }),
  key: { partition: 'GOOGLE#{googleId:text}', sort: 'LOCK' },
});
export const stripeLock = entity(ferryhookKeys, {
  name: 'Stripe customer lock',
  schema: z.object({ stripeCustomerId: z.string(), ...lockItem }),
  key: { partition: 'STRIPE#{stripeCustomerId:text}', sort: 'LOCK' },
});

const keyLimits = {
  endsAtMs: z.int().optional().describe('When it stops working'),
  tenants: z.array(z.string()).optional().describe('The only ones it is good for'),
  addresses: z
    .array(z.string())
    .optional()
    .describe('The only networks it may be used from, in CIDR notation'),
  expiresAt: expiresAt.optional(),
};

export const apiKey = entity(ferryhookKeys, {
  name: 'API key',
  description: 'As it is listed. GSI2 is for old readers: callers are recognised by the item below.',
  schema: z.object({
    keyId: z.string(),
    userId: z.string(),
    name: z.string(),
    keyHash: z.string().describe('SHA-256, hexadecimal'),
    keyPrefix: z.string().describe('`stak_`, or `fh_live_` of older ones, and six more characters'),
    permissions: permissionSchema,
    madeBy: z.string().optional().describe('The person, whose role bounds it; the account’s own unless told'),
    isDisabled: z.boolean().optional().describe('With its account'),
    ...keyLimits,
    lastUsedAt: time.optional(),
    createdAt: time,
  }),
  key: { partition: 'USER#{userId}', sort: 'KEY#{keyId}' },
  indexes: { GSI2: { partition: 'KEYHASH#{keyHash}', sort: 'KEY' } },
});
export type ApiKey = ItemOf<typeof apiKey>;

export const apiKeyHash = entity(ferryhookKeys, {
  name: 'API key by hash',
  description: 'Read consistently for every call with a key, so that a deleted one is refused at once.',
  schema: z.object({
    keyHash: z.string(),
    keyId: z.string(),
    userId: z.string(),
    permissions: permissionSchema,
    madeBy: z.string().optional(),
    isDisabled: z.boolean().optional(),
    ...keyLimits,
  }),
  key: { partition: 'KEYHASH#{keyHash}', sort: 'KEY' },
});

export const session = entity(ferryhookKeys, {
  name: 'session',
  description:
    'A signed-in person and the family of their refresh tokens: one item, rotated by its generation.',
  schema: z.object({
    userId: z.string(),
    sessionId: z.string(),
    accountId: z
      .string()
      .optional()
      .describe('The organisation that it is for; the person’s own unless told'),
    familyKey: z.string().describe('Sealed; what the refresh tokens are made from'),
    generation: z.int().describe('Of the refresh token that is good now'),
    rotatedAtMs: z.int(),
    provenAtMs: z.int().optional().describe('When a second factor was last shown'),
    signedInWith: z.string().describe('password, passkey, github, google, organisation or app'),
    app: z
      .object({
        clientId: z.string(),
        name: z.string(),
        host: z.string().describe('Where the app was answered'),
        scope: appScopeSchema,
      })
      .optional()
      .describe('The app that the person let in: the session is for it alone'),
    appOf: z.string().optional().describe('The organisation that the app was let into'),
    confinedTo: z
      .string()
      .optional()
      .describe('The organisation whose provider signed them in: the session is good for nothing else'),
    address: z.string().optional(),
    userAgent: z.string().optional(),
    createdAt: time,
    lastUsedAt: time,
    endsAt: z.int().describe('The second no refreshing gets past'),
    expiresAt,
  }),
  key: { partition: 'USER#{userId}', sort: 'SESSION#{sessionId}' },
  indexes: { GSI1: { partition: 'APPS#{appOf}', sort: '{userId}#{sessionId}' } },
});
export type Session = ItemOf<typeof session>;

export const auditEntry = entity(ferryhookKeys, {
  name: 'audit entry',
  schema: z.object({
    userId: z.string(),
    auditId: z.string(),
    action: z.string().describe('Like key.created'),
    at: time,
    by: z.string().optional().describe('The person; of a key, who made it'),
    via: z
      .string()
      .describe(
        'session, api_key, app, password, passkey, github, google, organisation, mail, stripe or system; of a tenant also end_user, invitation or openid',
      ),
    credentialId: z.string().optional(),
    address: z.string().optional(),
    requestId: z.string().optional(),
    target: z.string().optional(),
    detail: z.string().optional(),
    expiresAt,
  }),
  key: { partition: 'USER#{userId}', sort: 'AUDIT#{auditId}' },
});
export type AuditEntry = ItemOf<typeof auditEntry>;

export const usageCount = entity(ferryhookKeys, {
  name: 'usage of a month',
  description: 'One of several counters whose sum is the usage; each in a partition of its own.',
  schema: z.object({
    userId: z.string(),
    shard: z.int(),
    month: z.string().describe('Like 2026-03, in UTC; with a subscription, when its month began'),
    events: z.int(),
    expiresAt,
  }),
  key: { partition: 'USAGE#{userId}#{shard:2}', sort: 'MONTH#{month}' },
});

export const attemptCount = entity(ferryhookKeys, {
  name: 'attempts in a window',
  schema: z.object({
    what: z.string(),
    whom: z.string().describe('SHA-256 of an address or an account: strangers choose no keys'),
    window: z.int(),
    attempts: z.int(),
    expiresAt,
  }),
  key: { partition: 'ATTEMPT#{what}#{whom}', sort: 'WINDOW#{window:12}' },
});

export const knownNetwork = entity(ferryhookKeys, {
  name: 'known place',
  description: 'A network from which somebody signed in to an account: it has attempts of its own there.',
  schema: z.object({
    place: z.string().describe('SHA-256 of the account and the network'),
    expiresAt,
  }),
  key: { partition: 'PLACE#{place}', sort: 'KNOWN' },
});

export const knownDevice = entity(ferryhookKeys, {
  name: 'known device',
  description: 'A device and network from which somebody signed in: the next sign-in from there is no news.',
  schema: z.object({
    userId: z.string(),
    deviceId: z.string().describe('SHA-256 of the device’s name and the network, cut'),
    expiresAt,
  }),
  key: { partition: 'USER#{userId}', sort: 'DEVICE#{deviceId}' },
});

export const signingKey = entity(ferryhookKeys, {
  name: 'signing key',
  description:
    'One signs, the next is published ahead of its time, the last ones until their tokens are over.',
  schema: z.object({
    sequence: z.int(),
    kid: z.string(),
    publicJwk: z.string().describe('JSON'),
    privateJwk: z.string().describe('JSON, sealed'),
    signsFrom: z.int().describe('Unix timestamp (ms)'),
    createdAt: time,
    expiresAt: expiresAt.optional(),
  }),
  key: { partition: 'SIGNING', sort: 'KEY#{sequence:8}' },
});
export type StoredSigningKey = ItemOf<typeof signingKey>;

export const accountDeletion = entity(ferryhookKeys, {
  name: 'account deletion',
  description: 'An account being deleted, so that a worker can resume the deletion.',
  schema: z.object({
    userId: z.string(),
    requestedAt: time,
    keepsAccount: z.boolean().optional().describe('Only the person goes: the organisation has other owners'),
  }),
  key: { partition: 'DELETION', sort: 'USER#{userId}' },
});

export const oauthState = entity(ferryhookKeys, {
  name: 'OAuth state',
  description: 'A sign-in that has left for its provider. Taken by the first who comes back with it.',
  schema: z.object({
    stateHash: z.string(),
    provider: z.enum(['github', 'google', 'organisation', 'tenant']),
    organisationId: z
      .string()
      .optional()
      .describe('Of the organisation or the tenant whose own provider it is'),
    linkUserId: z.string().optional().describe('The signed-in user who links an identity'),
    linkSessionId: z.string().optional().describe('Their session, which has to last until then'),
    returnTo: z.string().describe('Where the browser goes afterwards; checked before it left'),
    expiresAt,
  }),
  key: { partition: 'OAUTH#{stateHash}', sort: 'STATE' },
});

export const stripeEvent = entity(ferryhookKeys, {
  name: 'Stripe event',
  description: 'One that has been applied, so that a redelivery changes nothing.',
  schema: z.object({ stripeEventId: z.string(), type: z.string(), appliedAt: time, expiresAt }),
  key: { partition: 'STRIPEEVT#{stripeEventId:text}', sort: 'EVENT' },
});

export const userByEmailIndex = defineQuery('user by e-mail, for old readers', {
  of: profile,
  index: 'GSI1',
});
export const keyByHashIndex = defineQuery('key by hash, for old readers', { of: apiKey, index: 'GSI2' });
const counted = ['keys', 'organisations', 'invitations'] as const;
export const creation = entity(ferryhookKeys, {
  name: 'creation of an account',
  description:
    'The last time that somebody created one of a limited number. Of two at the same time, one has to count again.',
  schema: z.object({
    userId: z.string(),
    of: z.enum(counted),
    recent: z.array(z.string()).optional().describe('Ids that an index may not have yet'),
    version: z.int(),
    expiresAt,
  }),
  key: { partition: 'USER#{userId}', sort: 'CREATION#{of}' },
  version: 'version',
});

export const creationErasure = (userId: string): WriteStep[] =>
  counted.map(of => write.delete(creation, { userId, of }));

export const keysOfUser = defineQuery('keys of a user', { of: apiKey, consistent: true });
export const sessionsOfUser = defineQuery('sessions of a user', { of: session, consistent: true });
export const appsOf = defineQuery('apps of an organisation', { of: session, index: 'GSI1' });
export const devicesOfUser = defineQuery('known devices of a user', { of: knownDevice, consistent: true });
export const auditOfUser = defineQuery('audit trail of a user', { of: auditEntry, newestFirst: true });
export const usageOfShard = defineQuery('months of a usage counter', { of: usageCount, consistent: true });
export const signingKeys = defineQuery('signing keys', { of: signingKey, consistent: true });
export const accountDeletions = defineQuery('accounts being deleted', {
  of: accountDeletion,
  consistent: true,
});
