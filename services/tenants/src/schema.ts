import { boundedRecord, nameSchemas } from '@stak/http';
import { isName } from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';
import { endUserScopes, isEndUserScope, leastScope } from './scopes.ts';

// Requests and responses of the API. Attribute names are the same as in the table.

const byteLengthOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

export const withinBytes =
  (most: number) =>
  (value: unknown): boolean =>
    byteLengthOf(value) <= most;

export const displayText = z
  .string()
  .trim()
  .min(1)
  .max(limits.nameChars)
  .refine(isName, 'No control or invisible characters, and no half characters');

// Names that we may need for URLs, pages or programs.
const reserved = new Set(
  (
    'account accounts admin api app assets auth billing console docs health help internal invitations login ' +
    'logout me metrics new null openapi public root settings signup stak static status support system ' +
    'undefined www'
  ).split(' '),
);

export const tenantId = z
  .string()
  .max(limits.slugChars)
  .regex(/^[a-z0-9][a-z0-9-]+[a-z0-9]$/, '3 to 63 lower case letters, digits and dashes, no dash at the ends')
  .describe('The id of the tenant.');
const newTenantId = tenantId.refine(id => !reserved.has(id), 'This name is reserved');

const idShape = /^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/;
const idHint = 'Letters, digits and . _ : @ | + = ~ -, beginning with a letter, a digit or _';
export const userId = z
  .string()
  .max(limits.userIdChars)
  .regex(idShape, idHint)
  .describe('The id of the user.');
export const channelId = z
  .string()
  .max(limits.channelIdChars)
  .regex(idShape, idHint)
  .describe('The id of the channel at its provider.');
export const channelType = z
  .string()
  .max(limits.channelTypeChars)
  .regex(/^[a-z][a-z0-9_-]*$/, 'A lower case letter, then letters, digits, _ and -')
  .describe('The type of channel, such as `whatsapp`.');
export const email = z.email().max(limits.emailChars).describe('The e-mail address.');
export const role = z.enum(['admin', 'member']).describe('Whether the user administers the tenant.');
const timestamp = z.iso.datetime();

const objectOf = (mostBytes: number) =>
  z.record(z.string(), z.unknown()).refine(withinBytes(mostBytes), `At most ${mostBytes} bytes of JSON`);

export const tenantShape = z.strictObject({
  tenant_id: z.string().describe('The id of the tenant.'),
  name: z.string().describe('A name for people.'),
  status: z
    .enum(['onboarding', 'active', 'suspended'])
    .describe('A suspended tenant’s users cannot use the API.'),
  created_at: timestamp.describe('When it was created.'),
  updated_at: timestamp.describe('When it was last changed.'),
  version: z.int().describe('Grows with every change; the ETag is made from it.'),
});
export const newTenant = z.strictObject({
  tenant_id: newTenantId.optional().describe('The id of the tenant.'),
  name: displayText.describe('A name for people.'),
  status: z
    .enum(['onboarding', 'active'])
    .default('onboarding')
    .describe('A suspended tenant’s users cannot use the API.'),
});
export const tenantPatch = z.strictObject({
  name: displayText.optional().describe('A name for people.'),
  status: z
    .enum(['active', 'suspended'])
    .optional()
    .describe('A suspended tenant’s users cannot use the API.'),
});

export const channelShape = z.strictObject({
  tenant_id: z.string().describe('The id of the tenant.'),
  type: z.string().describe('The type of channel, such as `whatsapp`.'),
  channel_id: z.string().describe('The id of the channel at its provider.'),
  created_at: timestamp.describe('When it was created.'),
});
export const newChannel = z.strictObject({ type: channelType, channel_id: channelId });

export const userShape = z.strictObject({
  tenant_id: z.string().describe('The id of the tenant.'),
  user_id: z.string().describe('The id of the user.'),
  email: z.string().optional().describe('The e-mail address.'),
  display_name: z.string().describe('The name that people see.'),
  role,
  channel_identities: z.record(z.string(), z.string()).describe('The id of the user on each channel.'),
  preferences: z.record(z.string(), z.unknown()).describe('What the user prefers, any JSON.'),
  custom_properties: z
    .record(z.string(), z.unknown())
    .describe('Properties of your own, checked by the tenant’s schema.'),
  memory_summary: z.string().optional().describe('A summary of what is remembered of the user.'),
  memory_updated_at: z.string().optional().describe('When the memory last changed, as an ISO 8601 time.'),
  memory_edited_at: z
    .string()
    .optional()
    .describe('When a person edited the summary, as an ISO 8601 time. It is not generated from then on.'),
  created_at: timestamp.describe('When it was created.'),
  updated_at: timestamp.describe('When it was last changed.'),
  version: z.int().describe('Grows with every change; the ETag is made from it.'),
});
export const newUser = z.strictObject({
  user_id: userId.optional(),
  email: email.optional(),
  display_name: displayText.describe('The name that people see.'),
  role: role.default('member'),
  channel_identities: boundedRecord(channelType, channelId, limits.identitiesPerUser)
    .default({})
    .describe('The id of the user on each channel.'),
  preferences: objectOf(limits.preferencesBytes).default({}).describe('What the user prefers, any JSON.'),
  custom_properties: objectOf(limits.propertiesBytes)
    .default({})
    .describe('Properties of your own, checked by the tenant’s schema.'),
});
// A merge patch (RFC 7396): null removes a field.
export const userPatch = z.strictObject({
  email: email.nullable().optional(),
  display_name: displayText.optional().describe('The name that people see.'),
  role: role.optional(),
  channel_identities: boundedRecord(
    channelType,
    channelId.nullable(),
    2 * limits.identitiesPerUser, // all old ones removed, and all new ones added
  )
    .optional()
    .describe('The id of the user on each channel.'),
  preferences: objectOf(limits.preferencesBytes).optional().describe('What the user prefers, any JSON.'),
  custom_properties: objectOf(limits.propertiesBytes)
    .optional()
    .describe('Properties of your own, checked by the tenant’s schema.'),
});

export const jsonSchema = z.record(z.string(), z.unknown());

export const invitationShape = z.strictObject({
  tenant_id: z.string().describe('The id of the tenant.'),
  invitation_id: z.string().describe('The id of the invitation.'),
  email: z.string().describe('The e-mail address.'),
  role,
  user_id: z.string().describe('The id of the user.'),
  created_at: timestamp.describe('When it was sent.'),
  expires_at: timestamp.describe('When the invitation expires.'),
});
export const newInvitation = z.strictObject({
  email,
  role: role.default('member'),
  user_id: userId.optional(),
  mail: z
    .boolean()
    .optional()
    .describe('Whether to mail the invitation to the address, with a link to the portal'),
  ttl_days: z
    .int()
    .min(1)
    .max(limits.invitationTtlDays)
    .default(limits.invitationTtlDaysDefault)
    .describe('How many days the invitation is valid.'),
});
export const acceptedInvitation = z.strictObject({
  token: z.string().min(1).max(300).describe('The token in the link of the invitation.'),
  display_name: displayText.describe('The name that people see.'),
});

export const newToken = z.strictObject({
  sub: userId.describe('The id of the user that the token is for.'),
  scope: z
    .string()
    .max(limits.scopeChars)
    .refine(
      text => text.split(' ').every(isEndUserScope),
      `Separated by single spaces, any of ${endUserScopes.join(', ')}`,
    )
    .transform(text => [...new Set(text.split(' '))].join(' '))
    .default(leastScope)
    .describe(`Separated by spaces, any of ${endUserScopes.join(', ')}`),
  ttl_seconds: z
    .int()
    .min(limits.tokenTtlLeastS)
    .max(limits.tokenTtlS)
    .default(limits.tokenTtlDefaultS)
    .describe('How many seconds the token is valid.'),
});
export const tokenShape = z.strictObject({
  token: z.string().describe('The token for `Authorization: Bearer …`.'),
  tenant: z.string().describe('The id of the tenant.'),
  sub: z.string().describe('The id of the user that the token is for.'),
  scope: z.string().describe('What the token may do.'),
  expires_at: timestamp.describe('When the token expires.'),
});

export const erasureShape = z.strictObject({
  erasure_id: z.string().describe('The id of the erasure.'),
  tenant_id: z.string().describe('The id of the tenant.'),
  subject: z.enum(['tenant', 'user']).describe('Whether a tenant or a user is erased.'),
  user_id: z.string().optional().describe('The user that is erased, if it is not the tenant.'),
  status: z.enum(['waiting', 'running', 'done']).describe('How far the erasure is.'),
  steps: z.array(z.string()).describe('The steps of the erasure, in order.'),
  steps_done: z.array(z.string()).describe('The steps that are done.'),
  failures: z.int().describe('How many times a step failed and was tried again.'),
  created_at: timestamp.describe('When it was asked for.'),
  finished_at: timestamp.optional().describe('When all steps were done.'),
});
nameSchemas({
  AcceptedInvitation: acceptedInvitation,
  Tenant: tenantShape,
  Channel: channelShape,
  User: userShape,
  UserInvitation: invitationShape,
  Erasure: erasureShape,
  UserToken: tokenShape,
});

export type NewTenant = z.infer<typeof newTenant>;
export type TenantPatch = z.infer<typeof tenantPatch>;
export type NewUser = z.infer<typeof newUser>;
export type UserPatch = z.infer<typeof userPatch>;
export type NewInvitation = z.infer<typeof newInvitation>;
export type NewToken = z.infer<typeof newToken>;
