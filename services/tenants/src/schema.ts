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
  .regex(
    /^[a-z0-9][a-z0-9-]+[a-z0-9]$/,
    '3 to 63 lower case letters, digits and dashes, no dash at the ends',
  );
const newTenantId = tenantId.refine(id => !reserved.has(id), 'This name is reserved');

const idShape = /^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/;
const idHint = 'Letters, digits and . _ : @ | + = ~ -, beginning with a letter, a digit or _';
export const userId = z.string().max(limits.userIdChars).regex(idShape, idHint);
export const channelId = z.string().max(limits.channelIdChars).regex(idShape, idHint);
export const channelType = z
  .string()
  .max(limits.channelTypeChars)
  .regex(/^[a-z][a-z0-9_-]*$/, 'A lower case letter, then letters, digits, _ and -');
export const email = z.email().max(limits.emailChars);
export const role = z.enum(['admin', 'member']);
const timestamp = z.iso.datetime();

const objectOf = (mostBytes: number) =>
  z.record(z.string(), z.unknown()).refine(withinBytes(mostBytes), `At most ${mostBytes} bytes of JSON`);

export const tenantShape = z.strictObject({
  tenant_id: z.string(),
  name: z.string(),
  status: z.enum(['onboarding', 'active', 'suspended']),
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});
export const newTenant = z.strictObject({
  tenant_id: newTenantId.optional(),
  name: displayText,
  status: z.enum(['onboarding', 'active']).default('onboarding'),
});
export const tenantPatch = z.strictObject({
  name: displayText.optional(),
  status: z.enum(['active', 'suspended']).optional(),
});

export const channelShape = z.strictObject({
  tenant_id: z.string(),
  type: z.string(),
  channel_id: z.string(),
  created_at: timestamp,
});
export const newChannel = z.strictObject({ type: channelType, channel_id: channelId });

export const userShape = z.strictObject({
  tenant_id: z.string(),
  user_id: z.string(),
  email: z.string().optional(),
  display_name: z.string(),
  role,
  channel_identities: z.record(z.string(), z.string()),
  preferences: z.record(z.string(), z.unknown()),
  custom_properties: z.record(z.string(), z.unknown()),
  memory_summary: z.string().optional(),
  memory_updated_at: z.string().optional(),
  memory_edited_at: z.string().optional(),
  created_at: timestamp,
  updated_at: timestamp,
  version: z.int(),
});
export const newUser = z.strictObject({
  user_id: userId.optional(),
  email: email.optional(),
  display_name: displayText,
  role: role.default('member'),
  channel_identities: boundedRecord(channelType, channelId, limits.identitiesPerUser).default({}),
  preferences: objectOf(limits.preferencesBytes).default({}),
  custom_properties: objectOf(limits.propertiesBytes).default({}),
});
// A merge patch (RFC 7396): null removes a field.
export const userPatch = z.strictObject({
  email: email.nullable().optional(),
  display_name: displayText.optional(),
  role: role.optional(),
  channel_identities: boundedRecord(
    channelType,
    channelId.nullable(),
    2 * limits.identitiesPerUser, // all old ones removed, and all new ones added
  ).optional(),
  preferences: objectOf(limits.preferencesBytes).optional(),
  custom_properties: objectOf(limits.propertiesBytes).optional(),
});

export const jsonSchema = z.record(z.string(), z.unknown());

export const invitationShape = z.strictObject({
  tenant_id: z.string(),
  invitation_id: z.string(),
  email: z.string(),
  role,
  user_id: z.string(),
  created_at: timestamp,
  expires_at: timestamp,
});
export const newInvitation = z.strictObject({
  email,
  role: role.default('member'),
  user_id: userId.optional(),
  mail: z
    .boolean()
    .optional()
    .describe('Whether to mail the invitation to the address, with a link to the portal'),
  ttl_days: z.int().min(1).max(limits.invitationTtlDays).default(limits.invitationTtlDaysDefault),
});
export const acceptedInvitation = z.strictObject({
  token: z.string().min(1).max(300),
  display_name: displayText,
});

export const newToken = z.strictObject({
  sub: userId,
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
  ttl_seconds: z.int().min(limits.tokenTtlLeastS).max(limits.tokenTtlS).default(limits.tokenTtlDefaultS),
});
export const tokenShape = z.strictObject({
  token: z.string(),
  tenant: z.string(),
  sub: z.string(),
  scope: z.string(),
  expires_at: timestamp,
});

export const erasureShape = z.strictObject({
  erasure_id: z.string(),
  tenant_id: z.string(),
  subject: z.enum(['tenant', 'user']),
  user_id: z.string().optional(),
  status: z.enum(['waiting', 'running', 'done']),
  steps: z.array(z.string()),
  steps_done: z.array(z.string()),
  failures: z.int(),
  created_at: timestamp,
  finished_at: timestamp.optional(),
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
