import { defineKeys, defineQuery, entity, type ItemOf, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { appScopeSchema } from './app-scopes.ts';
import { mailTopics, permissionSchema, planSchema } from './schema.ts';

const time = z.string().describe('ISO timestamp');
const expiresAt = z.int().describe('The second at which it expires');

export const ferryhookKeys = defineKeys({
  name: 'ferryhook-main',
  description:
    'Developers, their keys and sessions, and the sources and connections of their webhooks. ' +
    'Ids are a prefix and 24 digits and lower-case letters that sort by time, not `nanoid(16)`: ADR 0154.',
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
  description: 'A developer. Usage is counted in other items, so that this one is rarely written.',
  schema: z.object({
    userId: z.string(),
    email: z.string(),
    emailVerified: z
      .boolean()
      .optional()
      .describe('Whether the person has proved that the address is theirs'),
    name: z.string(),
    passwordHash: z.string().optional().describe('scrypt, with its parameters; absent if OAuth only'),
    plan: planSchema,
    secondFactor: z.enum(['totp']).optional().describe('The second factor that a password sign-in requires'),
    passkeys: z
      .int()
      .optional()
      .describe('How many they have; counted here so that the last way to sign in cannot be removed'),
    planFixed: z.boolean().optional().describe('An operator chose the plan: the default does not apply'),
    importedAt: time
      .optional()
      .describe('When an operator imported it: they know whose it is, even if the address is not verified'),
    disabledAt: time.optional().describe('Since when an operator has disabled it'),
    stripeCustomerId: z.string().optional(),
    stripeSubId: z.string().optional(),
    githubId: z.string().optional(),
    googleId: z.string().optional(),
    signsInto: z.string().optional().describe('The organisation they last worked in'),
    madeFor: z
      .string()
      .optional()
      .describe('The organisation whose provider created them, and which manages them'),
    claimedEmail: z.string().optional().describe('Their address at that provider, for display only'),
    mailsOff: z.array(z.enum(mailTopics)).optional().describe('The notices that they have switched off'),
    isOrganisation: z.boolean().optional().describe('Not a person: nobody can sign in with it'),
    createdAt: time,
    updatedAt: time,
    deletingAt: time.optional().describe('Since when it is being deleted: nothing new may be created for it'),
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
    'An account that has its conversations and the bodies of its webhooks in the lake. All are in one partition: they are few, and the lake reads all of them at once.',
  schema: z.object({
    accountId: z.string(),
    sinceMs: z.int().describe('Earlier messages and events are not included'),
  }),
  key: { partition: 'LAKETEXTS', sort: 'ACCOUNT#{accountId}' },
});
export const accountsWithTexts = defineQuery('accounts with texts in the lake', {
  of: lakeTexts,
  consistent: true,
});

// One item for each value that may belong to one user only, written in the user's transaction. An index could not
// enforce this: it is written afterwards and cannot refuse.
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
  endsAtMs: z.int().optional().describe('When it expires'),
  tenants: z.array(z.string()).optional().describe('The only tenants it is valid for'),
  addresses: z
    .array(z.string())
    .optional()
    .describe('The only networks it may be used from, in CIDR notation'),
  expiresAt: expiresAt.optional(),
};

export const apiKey = entity(ferryhookKeys, {
  name: 'API key',
  description:
    'A key as it is listed. GSI2 is for older programs: callers are authenticated by the item below.',
  schema: z.object({
    keyId: z.string(),
    userId: z.string(),
    name: z.string(),
    keyHash: z.string().describe('SHA-256, hexadecimal'),
    keyPrefix: z.string().describe('`stak_`, or `fh_live_` of older ones, and six more characters'),
    permissions: permissionSchema,
    madeBy: z.string().optional().describe('The person whose role limits it; by default the account’s own'),
    isDisabled: z.boolean().optional().describe('Together with its account'),
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
    accountId: z.string().optional().describe('The organisation it is for; by default the person’s own'),
    familyKey: z.string().describe('Sealed; the key that authenticates the refresh tokens'),
    generation: z.int().describe('The generation of the valid refresh token'),
    rotatedAtMs: z.int(),
    provenAtMs: z.int().optional().describe('When a second factor was last verified'),
    signedInWith: z.string().describe('password, passkey, github, google, organisation or app'),
    app: z
      .object({
        clientId: z.string(),
        name: z.string(),
        host: z.string().describe('The host that the app was redirected to'),
        scope: appScopeSchema,
      })
      .optional()
      .describe('The app that the person approved: the session is for it alone'),
    appOf: z.string().optional().describe('The organisation that the app was approved for'),
    confinedTo: z
      .string()
      .optional()
      .describe('The organisation whose provider signed them in: the session is valid there only'),
    address: z.string().optional(),
    userAgent: z.string().optional(),
    createdAt: time,
    lastUsedAt: time,
    endsAt: z.int().describe('The second at which it ends, however often it is refreshed'),
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
    by: z.string().optional().describe('The person; for a key, the person who created it'),
    via: z
      .string()
      .describe(
        'session, api_key, app, password, passkey, github, google, organisation, mail, stripe or system; of a tenant also end_user, invitation, openid, or a channel such as slack',
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
  description: 'One of several counters whose sum is the usage, each in its own partition.',
  schema: z.object({
    userId: z.string(),
    shard: z.int(),
    month: z.string().describe('Like 2026-03, in UTC; with a subscription, the start of its month'),
    events: z.int(),
    expiresAt,
  }),
  key: { partition: 'USAGE#{userId}#{shard:2}', sort: 'MONTH#{month}' },
});

export const attemptCount = entity(ferryhookKeys, {
  name: 'attempts in a window',
  schema: z.object({
    what: z.string(),
    whom: z.string().describe('SHA-256 of an address or an account, so that strangers cannot choose keys'),
    window: z.int(),
    attempts: z.int(),
    expiresAt,
  }),
  key: { partition: 'ATTEMPT#{what}#{whom}', sort: 'WINDOW#{window:12}' },
});

export const knownNetwork = entity(ferryhookKeys, {
  name: 'known place',
  description: 'A network from which a person signed in to an account. Its attempts are counted separately.',
  schema: z.object({
    place: z.string().describe('SHA-256 of the account and the network'),
    expiresAt,
  }),
  key: { partition: 'PLACE#{place}', sort: 'KNOWN' },
});

export const knownDevice = entity(ferryhookKeys, {
  name: 'known device',
  description:
    'A device and network from which a person signed in: the next sign-in from there causes no mail.',
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
    'One key signs. The next one is published in advance, earlier ones until their tokens have expired.',
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
    keepsAccount: z
      .boolean()
      .optional()
      .describe('Only the person is deleted: the organisation has other owners'),
  }),
  key: { partition: 'DELETION', sort: 'USER#{userId}' },
});

export const oauthState = entity(ferryhookKeys, {
  name: 'OAuth state',
  description: 'A sign-in in progress at its provider. Consumed by the first callback.',
  schema: z.object({
    stateHash: z.string(),
    provider: z.enum(['github', 'google', 'organisation', 'tenant']),
    organisationId: z
      .string()
      .optional()
      .describe('Of the organisation or the tenant whose own provider it is'),
    linkUserId: z.string().optional().describe('The signed-in user who links an identity'),
    linkSessionId: z.string().optional().describe('Their session, which must still be valid then'),
    returnTo: z.string().describe('Where the browser goes afterwards; checked at the start'),
    expiresAt,
  }),
  key: { partition: 'OAUTH#{stateHash}', sort: 'STATE' },
});

export const stripeEvent = entity(ferryhookKeys, {
  name: 'Stripe event',
  description: 'An applied event, so that a redelivery changes nothing.',
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
    'The last creation of something whose number is limited. Of two concurrent ones, one must count again.',
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
