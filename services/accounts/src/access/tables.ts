import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../main-table.ts';
import { roleNames } from '../roles.ts';

const time = z.string().describe('ISO timestamp');

export const organisation = entity(ferryhookKeys, {
  name: 'organisation',
  description:
    'The account as its members see it. An account without this item belongs only to the person with the same id.',
  schema: z.object({
    accountId: z.string(),
    name: z.string(),
    members: z.int().describe('How many there are: a new one is added on the condition that a seat is free'),
    owners: z.int().describe('How many of them are owners: the last one cannot be removed'),
    createdAt: time,
    updatedAt: time,
  }),
  key: { partition: 'USER#{accountId}', sort: 'ORGANISATION' },
});
export type Organisation = ItemOf<typeof organisation>;

export const member = entity(ferryhookKeys, {
  name: 'member',
  schema: z.object({
    accountId: z.string(),
    userId: z.string().describe('The person'),
    role: z
      .enum(roleNames)
      .optional()
      .describe('Absent if the person with the account’s id has left: without the item, they would own it'),
    joinedAt: time,
    joinedHash: z
      .string()
      .optional()
      .describe('The hash of the accepted invitation, for repeated requests after a lost response'),
    invitedBy: z.string().optional(),
  }),
  key: { partition: 'USER#{accountId}', sort: 'MEMBER#{userId}' },
  indexes: { GSI1: { partition: 'MEMBER#{userId}', sort: 'ORGANISATION#{accountId}#{role}' } },
});

export const invitation = entity(ferryhookKeys, {
  name: 'invitation to an organisation',
  description: 'One for each address: a newer one replaces it.',
  schema: z.object({
    accountId: z.string(),
    invitationId: z.string().describe('Derived from the address'),
    email: z.string(),
    role: z.enum(roleNames),
    tokenHash: z.string(),
    invitedBy: z.string(),
    creationId: z
      .string()
      .optional()
      .describe('Of the request that created it: a repeated one finds what it created'),
    createdAt: time,
    sentAt: time,
    expiresAt: z.int().describe('The second at which it expires'),
  }),
  key: { partition: 'USER#{accountId}', sort: 'INVITATION#{invitationId}' },
});
export type Invitation = ItemOf<typeof invitation>;

export const organisationProvider = entity(ferryhookKeys, {
  name: 'provider of an organisation',
  description: 'The OpenID Connect provider through which the people of an organisation sign in.',
  schema: z.object({
    accountId: z.string(),
    issuer: z.string(),
    clientId: z.string(),
    sealedSecret: z.string(),
    domains: z.array(z.string()).describe('The domains of addresses that may sign in'),
    defaultRole: z.enum(roleNames).describe('The role of new members'),
    updatedAt: time,
  }),
  key: { partition: 'USER#{accountId}', sort: 'PROVIDER' },
});
export type OrganisationProvider = ItemOf<typeof organisationProvider>;

export const providerSubject = entity(ferryhookKeys, {
  name: 'subject of a provider',
  description:
    'Links a person at the provider to a user. It stays when they are removed, so that they stay removed.',
  schema: z.object({
    accountId: z.string(),
    subjectHash: z.string().describe('SHA-256 of issuer and subject'),
    userId: z.string(),
    issuer: z.string(),
    subject: z.string(),
    linkedAt: time,
  }),
  key: { partition: 'USER#{accountId}', sort: 'SUBJECT#{subjectHash}' },
});

export const linkedSubject = entity(ferryhookKeys, {
  name: 'linked subject',
  description: 'The same, by person: one for each organisation.',
  schema: z.object({ userId: z.string(), accountId: z.string(), subjectHash: z.string() }),
  key: { partition: 'USER#{userId}', sort: 'LINKED#{accountId}' },
});

export const subjectsOf = defineQuery('subjects of a provider', { of: providerSubject, consistent: true });
export const linkedTo = defineQuery('linked subjects of a person', { of: linkedSubject, consistent: true });
export const membersOf = defineQuery('members of an organisation', { of: member, consistent: true });
export const organisationsOf = defineQuery('organisations of a person', { of: member, index: 'GSI1' });
export const invitationsOf = defineQuery('invitations of an organisation', {
  of: invitation,
  consistent: true,
});
