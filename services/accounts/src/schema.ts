import { nameSchemas, pageQuery } from '@stak/http';
import { isName } from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';
import { planNames } from './plans.ts';
import { roleNames } from './roles.ts';

// The domain of accounts that nobody signs in to: it receives no mail, and nobody can register it.
export const organisationDomain = '@organisation.invalid';

// Zod's pattern allows only ASCII without `#` or spaces, so an address can be part of a key as it is. It is checked
// before lower-casing, because the lower case of some other letters is ASCII: the Kelvin sign becomes a `k`, and an
// address with one would pass for somebody else's.
export const emailSchema = z
  .string()
  .trim()
  .refine(isAscii, 'Not ASCII')
  .toLowerCase()
  .max(limits.emailChars)
  .refine(email => !email.endsWith(organisationDomain), 'Not an address of a person')
  .pipe(z.email())
  .describe('An e-mail address. Case is ignored');
export const nameSchema = z.string().trim().min(1).max(limits.nameChars).refine(isName, 'Not printable');
export const passwordSchema = z.string().min(limits.passwordCharsLeast).max(limits.passwordCharsMost);
// A password that is tried. One that is too short is simply wrong.
export const triedPasswordSchema = z.string().min(1).max(limits.passwordCharsMost);
export const codeSchema = z
  .string()
  .min(1)
  .max(limits.codeChars)
  .describe('Six digits from an authenticator app, or a recovery code');
export const cookieSchema = z
  .boolean()
  .default(true)
  .describe('Whether the refresh token is set as a cookie. With `false`, it is returned in the response');
// Notices that people may switch off. Mail about their own sign-in is always sent.
export const mailTopics = ['deliveries', 'limits'] as const;
export type MailTopic = (typeof mailTopics)[number];
export const mailSwitches = {
  deliveries: z.boolean().describe('About failing deliveries, at most once an hour'),
  limits: z.boolean().describe('About a limit of the plan, at 80 % and at 100 %'),
} satisfies Record<MailTopic, z.ZodType>;

export const planSchema = z.enum(planNames);
export const permissionSchema = z.enum(['read', 'write', 'admin']);
export type Permission = z.infer<typeof permissionSchema>;

// `inbox:read inbox:write`, or the single word of tokens that are older than scopes by service.
const serviceScopes = /^[a-z]+:[a-z]+(?: [a-z]+:[a-z]+)*$/;
export const endUserScopeSchema = z.union([
  permissionSchema,
  z.string().max(limits.endUserScopeChars).regex(serviceScopes),
]);

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

// People see this of their own account. The password hash and Stripe's ids are left out.
export const meSchema = z.strictObject({
  userId: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  name: z.string(),
  plan: planSchema,
  madeFor: z
    .string()
    .optional()
    .describe('The organisation whose provider you signed up with. Your address is managed by that provider'),
  hasPassword: z.boolean(),
  secondFactor: z.boolean().describe('Whether signing in with a password also requires a code or a passkey'),
  authenticator: z.boolean().describe('Whether there is an authenticator app'),
  passkeys: z.int().describe('How many passkeys there are'),
  githubId: z.string().optional(),
  googleId: z.string().optional(),
  mails: z.strictObject(mailSwitches).describe('The notices that you receive by mail'),
  usageThisMonth: z.int(),
  usagePeriodStart: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

export const apiKeySchema = z.strictObject({
  keyId: z.string(),
  name: z.string(),
  keyPrefix: z.string(),
  permissions: permissionSchema,
  madeBy: z.string().describe('The member who created it. It stops working when they leave'),
  expiresAt: z.string().optional().describe('When it stops working, or stopped'),
  tenants: z.array(z.string()).optional().describe('The tenants that it is limited to'),
  addresses: z.array(z.string()).optional().describe('The networks that it is limited to'),
  lastUsedAt: z.string().optional(),
  createdAt: z.string(),
});

export const sessionSchema = z.strictObject({
  sessionId: z.string(),
  isCurrent: z.boolean(),
  accountId: z.string().describe('The organisation of the session'),
  signedInWith: z.string(),
  device: z.string().describe('Such as `Firefox on Linux`, from the user agent'),
  address: z.string().optional(),
  userAgent: z.string().optional(),
  createdAt: z.string(),
  lastUsedAt: z.string(),
});

const moment = z.iso.datetime({ offset: true });
export const auditQuery = pageQuery().extend({
  by: z.string().min(1).max(100).optional().describe('What this person did, by their user id'),
  action: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('This action, such as `key.created`, or all that begin with `key`'),
  from: moment.optional().describe('Since this time'),
  to: moment.optional().describe('Before this time'),
});
export const auditSchema = z.strictObject({
  auditId: z.string(),
  action: z.string(),
  at: z.string(),
  by: z.string().optional().describe('The person who did it; for a key, the person who created it'),
  via: z.string(),
  credentialId: z.string().optional(),
  address: z.string().optional(),
  requestId: z.string().optional(),
  target: z.string().optional(),
  detail: z.string().optional(),
});

export const planDetailsSchema = z.strictObject({
  plan: planSchema,
  eventsPerMonth: z.int().nullable().describe('Null if there is no limit'),
  eventsPerMinute: z.int().nullable().describe('Null if there is no limit'),
  retentionSeconds: z.int(),
  seats: z.int().nullable().describe('How many members an organisation may have; null if there is no limit'),
  storageBytes: z.int().nullable().describe('For you and all your tenants; null if there is no limit'),
  tenants: z.int().nullable().describe('How many tenants you may have; null if there is no limit'),
  usersPerTenant: z
    .int()
    .nullable()
    .describe('How many users each tenant may have; null if there is no limit'),
  modelUsdPerDay: z
    .number()
    .nullable()
    .describe(
      'What your tenants may spend on models a day, in US dollars, unless the operator has set another limit; null if there is none',
    ),
  query: z
    .strictObject({
      rows: z.int().describe('Rows in a file'),
      bytes: z.int().describe('Bytes of a file'),
      seconds: z.int().describe('Seconds that a query can take'),
    })
    .describe('What one SQL query can return, and how long it can take'),
});

export const usageSchema = z.strictObject({
  usagePeriodStart: z.string(),
  usageThisMonth: z.int(),
  plan: planSchema,
  eventsPerMonth: z.int().nullable().describe('The limit of your plan; null if there is none'),
  tenants: z
    .strictObject({
      used: z.int().nullable().describe('How many tenants you have; null if there is no limit'),
      limit: z.int().nullable().describe('The limit of your plan; null if there is none'),
    })
    .describe('Tenants'),
  storage: z
    .strictObject({
      usedBytes: z.int().describe('Stored by you and all your tenants, as of a few seconds ago'),
      limitBytes: z.int().nullable().describe('The limit of your plan; null if there is none'),
      isComplete: z.boolean().describe('False until the first count is complete'),
      services: z.array(z.strictObject({ service: z.string(), bytes: z.int(), items: z.int() })),
    })
    .describe('Measured as DynamoDB measures items. Indexes, the change log and the lake are not included'),
});

// The names are OAuth's. The refresh token is included only for clients that do not use the cookie.
export const tokensSchema = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  session_id: z.string(),
  account_id: z.string().describe('The organisation that the tokens are for'),
  user_id: z.string().describe('The person who signed in'),
  refresh_token: z.string().optional(),
});
nameSchemas({
  Profile: meSchema,
  ApiKey: apiKeySchema,
  Session: sessionSchema,
  AuditEntry: auditSchema,
  Plan: planDetailsSchema,
  Usage: usageSchema,
  Tokens: tokensSchema,
});

export const callerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('account'),
    accountId: z.string(),
    scope: permissionSchema,
    via: z.enum(['session', 'api_key', 'app']),
    credentialId: z.string().describe('The id of the session, the key or the app'),
    userId: z.string().describe('The person who signed in, created the key or connected the app'),
    role: z.enum(roleNames).optional().describe('The role of the person who signed in'),
    tenants: z.array(z.string()).optional().describe('Set if the key is limited to some tenants'),
  }),
  z.strictObject({
    kind: z.literal('endUser'),
    tenantId: z.string(),
    userId: z.string(),
    scope: z.string().describe('The scopes of the token, separated by spaces'),
  }),
]);
