import { empty, json, nameSchemas, pageOf, pageQuery, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { roleNames } from '../roles.ts';
import { emailSchema, nameSchema, planSchema, tokensSchema, triedPasswordSchema } from '../schema.ts';
import * as limits from './limits.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const roleSchema = z.enum(roleNames);
const accountIdSchema = z.string().regex(/^(?:usr|org)_[A-Za-z0-9_-]{1,40}$/);
const tokenSchema = z.string().min(1).max(limits.tokenChars).describe('The token from the link in the mail');
const memberParams = z.strictObject({ userId: z.string().regex(/^usr_[A-Za-z0-9_-]{1,40}$/) });
const invitationParams = z.strictObject({ invitationId: z.string().regex(/^inv_[a-f0-9]{24}$/) });

const organisationSchema = z.strictObject({
  accountId: z.string(),
  name: z.string(),
  plan: planSchema,
  members: z.int(),
  seats: z.int().nullable().describe('Seats of the plan; null if there is no limit'),
  role: roleSchema.optional().describe('Your role, if you are signed in'),
  manages: z.array(roleSchema).describe('The roles that you may invite, change and remove'),
});
const standingSchema = z.strictObject({
  accountId: z.string(),
  name: z.string(),
  role: roleSchema,
  isCurrent: z.boolean().describe('Whether your token is for this organisation'),
});
const memberSchema = z.strictObject({
  userId: z.string(),
  role: roleSchema,
  email: z.string().optional(),
  name: z.string().optional(),
  joinedAt: z.string(),
});
const invitationSchema = z.strictObject({
  invitationId: z.string(),
  email: z.string(),
  role: roleSchema,
  invitedBy: z.string(),
  sentAt: z.string(),
  expiresAt: z.string(),
});
const listOf = <S extends z.ZodType>(schema: S) =>
  json(z.strictObject({ data: z.array(schema), next_cursor: z.null() }));

const managed = ['accounts.role_refused', 'accounts.member_not_found', 'accounts.last_owner'];
const mailed = ['accounts.no_mail', 'accounts.role_refused', 'accounts.too_many_attempts'];

const nameBody = z.strictObject({ name: nameSchema });
const tokenBody = z.strictObject({ token: tokenSchema });

nameSchemas({
  NewName: nameBody,
  InvitationToken: tokenBody,
  Organisation: organisationSchema,
  Membership: standingSchema,
  Member: memberSchema,
  Invitation: invitationSchema,
});

export const organisationRoutes = {
  read: route({
    ...common,
    ...readsOnly,
    path: '/v1/organisation',
    operationId: 'accounts.readOrganisation',
    auth: 'account',
    scope: 'read',
    summary: 'Get the current organisation',
    description:
      'Returns the organisation that your token is for. Every account is an organisation, which starts with one member.',
    responses: { 200: json(organisationSchema) },
  }),
  rename: route({
    ...common,
    method: 'patch',
    path: '/v1/organisation',
    operationId: 'accounts.renameOrganisation',
    reaches: 'nothing',
    audit: 'own',
    stores: 'edit',
    auth: 'session',
    scope: 'admin',
    summary: 'Rename the organisation',
    description: 'Changes the name that members and invited people see.',
    request: { body: json(nameBody) },
    responses: { 200: json(organisationSchema) },
  }),
  list: route({
    ...common,
    ...readsOnly,
    path: '/v1/organisations',
    operationId: 'accounts.listOrganisations',
    auth: 'person',
    summary: 'List your organisations',
    description: 'Returns every organisation of the person who signed in, with their role in it.',
    responses: { 200: listOf(standingSchema) },
  }),
  create: route({
    ...common,
    method: 'post',
    path: '/v1/organisations',
    operationId: 'accounts.createOrganisation',
    reaches: 'nothing',
    audit: 'own',
    stores: 'body',
    auth: 'person',
    idempotent: true,
    summary: 'Create an organisation',
    description: 'Makes an organisation with its own plan, data and members.',
    request: { body: json(nameBody) },
    responses: { 201: json(standingSchema) },
    problems: ['accounts.too_many_organisations', 'accounts.email_unverified', 'accounts.session_confined'],
  }),
  leave: route({
    ...common,
    method: 'post',
    path: '/v1/organisations/{accountId}/leave',
    operationId: 'accounts.leaveOrganisation',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Leave an organisation',
    description:
      'Ends your sessions in it, and revokes the keys that you created for it. The last owner cannot leave.',
    request: { params: z.strictObject({ accountId: accountIdSchema }) },
    responses: { 204: empty() },
    problems: ['accounts.organisation_not_found', 'accounts.last_owner', 'accounts.session_confined'],
  }),
  switch: route({
    ...common,
    method: 'post',
    path: '/v1/auth/switch',
    operationId: 'accounts.switchOrganisation',
    reaches: 'nothing',
    audit: 'own',
    stores: 'line',
    auth: 'person',
    summary: 'Switch to another organisation',
    description:
      'Returns the tokens of a new session in that organisation, and ends the current session. From now on, signing in takes you there.',
    request: {
      body: json(
        z.strictObject({
          accountId: accountIdSchema,
          cookie: z.boolean().default(true).describe('Whether the refresh token is set as a cookie'),
        }),
      ),
    },
    responses: { 200: json(tokensSchema) },
    problems: [
      'accounts.organisation_not_found',
      'accounts.session_confined',
      'accounts.refresh_refused',
      'accounts.origin_refused',
    ],
  }),
  listMembers: route({
    ...common,
    ...readsOnly,
    path: '/v1/members',
    operationId: 'accounts.listMembers',
    auth: 'account',
    scope: 'read',
    summary: 'List the members of the organisation',
    description: 'Returns the people of the organisation, with their roles.',
    request: { query: pageQuery() },
    responses: { 200: json(pageOf(memberSchema)) },
  }),
  changeRole: route({
    ...common,
    method: 'patch',
    path: '/v1/members/{userId}',
    operationId: 'accounts.changeMemberRole',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'session',
    scope: 'admin',
    summary: 'Change the role of a member',
    description: 'Takes effect within a second, also for existing tokens and keys.',
    request: { params: memberParams, body: json(z.strictObject({ role: roleSchema })) },
    responses: { 204: empty() },
    problems: [...managed, 'accounts.step_up_needed'],
  }),
  remove: route({
    ...common,
    method: 'delete',
    path: '/v1/members/{userId}',
    operationId: 'accounts.removeMember',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'session',
    scope: 'admin',
    summary: 'Remove a member',
    description:
      'Ends their sessions and event streams in the organisation within a second, and revokes the keys that they created for it.',
    request: { params: memberParams },
    responses: { 204: empty() },
    problems: managed,
  }),
  transfer: route({
    ...common,
    method: 'post',
    path: '/v1/members/{userId}/ownership',
    operationId: 'accounts.transferOwnership',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'session',
    scope: 'admin',
    role: 'owner',
    summary: 'Transfer ownership to a member',
    description: 'They become an owner, and you become an admin.',
    request: {
      params: memberParams,
      body: json(
        z.strictObject({
          password: triedPasswordSchema
            .optional()
            .describe('Not needed if you have no password and have just signed in'),
        }),
      ),
    },
    responses: { 204: empty() },
    problems: [
      'accounts.member_not_found',
      'accounts.last_owner',
      'accounts.changed',
      'accounts.step_up_needed',
      'accounts.password_wrong',
      'accounts.sign_in_again',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  listInvitations: route({
    ...common,
    ...readsOnly,
    path: '/v1/invitations',
    operationId: 'accounts.listInvitations',
    auth: 'session',
    scope: 'admin',
    summary: 'List pending invitations',
    description: 'Returns the invitations that were neither accepted nor withdrawn, and have not expired.',
    responses: { 200: listOf(invitationSchema) },
  }),
  invite: route({
    ...common,
    method: 'post',
    path: '/v1/invitations',
    operationId: 'accounts.invite',
    reaches: 'mail',
    audit: 'own',
    stores: 'body',
    auth: 'session',
    scope: 'admin',
    idempotent: true,
    summary: 'Invite someone to the organisation by mail',
    description:
      'The link in the mail works once, for a week, for a person who signs in with that address, and as long as you may invite to that role. Inviting an address again replaces its invitation.',
    request: { body: json(z.strictObject({ email: emailSchema, role: roleSchema.exclude(['owner']) })) },
    responses: { 201: json(invitationSchema) },
    problems: [
      ...mailed,
      'accounts.step_up_needed',
      'accounts.already_member',
      'accounts.seats_taken',
      'accounts.too_many_invitations',
      'accounts.user_not_found',
    ],
  }),
  resend: route({
    ...common,
    method: 'post',
    path: '/v1/invitations/{invitationId}/resend',
    operationId: 'accounts.resendInvitation',
    reaches: 'mail',
    audit: 'own',
    stores: 'body',
    auth: 'session',
    scope: 'admin',
    summary: 'Resend an invitation with a new link',
    description: 'Sends another mail. The link of the mail before stops working.',
    request: { params: invitationParams },
    responses: { 200: json(invitationSchema) },
    problems: [...mailed, 'accounts.invitation_not_found'],
  }),
  withdraw: route({
    ...common,
    method: 'delete',
    path: '/v1/invitations/{invitationId}',
    operationId: 'accounts.withdrawInvitation',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'session',
    scope: 'admin',
    summary: 'Withdraw an invitation',
    description: 'Makes the link of the invitation useless.',
    request: { params: invitationParams },
    responses: { 204: empty() },
    problems: ['accounts.role_refused', 'accounts.invitation_not_found'],
  }),
  look: route({
    ...common,
    method: 'post',
    path: '/v1/auth/invitation',
    operationId: 'accounts.readInvitation',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    auth: 'public',
    summary: 'Get an invitation by its token',
    description: 'Returns who invites whom to which organisation. It changes nothing.',
    request: { body: json(tokenBody) },
    responses: {
      200: json(
        z.strictObject({
          name: z.string().describe('The name of the organisation'),
          email: z.string().describe('The address that it was sent to. Sign in with this address'),
          role: roleSchema,
          invitedBy: z.string().optional().describe('The name of the member who sent it'),
          expiresAt: z.string(),
        }),
      ),
    },
    problems: ['accounts.token_refused', 'accounts.origin_refused', 'accounts.too_many_attempts'],
  }),
  accept: route({
    ...common,
    method: 'post',
    path: '/v1/auth/invitation/accept',
    operationId: 'accounts.acceptInvitation',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Accept an invitation',
    description:
      'Sign in first with the address that it was sent to. Accepting verifies that address. Then switch to the organisation.',
    request: { body: json(tokenBody) },
    responses: { 200: json(z.strictObject({ accountId: z.string(), role: roleSchema })) },
    problems: [
      'accounts.token_refused',
      'accounts.invitation_elsewhere',
      'accounts.seats_taken',
      'accounts.too_many_attempts',
    ],
  }),
};
