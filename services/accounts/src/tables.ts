import { defineTable } from '@stak/table';
import { subscription } from './billing/table.ts';
import { authenticator, passkey, passkeyChallenge, passkeysOfUser } from './factors/table.ts';
import { failureDigest, mailedNotice, mailsDue, mailsOfUser, noticesOf, outgoingMail } from './mail/table.ts';
import { authorizationCode, oauthClient } from './oauth-server/table.ts';
import {
  invitation,
  invitationsOf,
  linkedSubject,
  linkedTo,
  member,
  membersOf,
  organisation,
  organisationProvider,
  organisationsOf,
  providerSubject,
  subjectsOf,
} from './organisations/table.ts';
import { emailChange, mailedToken } from './recovery/table.ts';
import { saved, savedChange, savedOf } from './saved/table.ts';
import {
  accountDeletion,
  accountDeletions,
  accountsWithTexts,
  apiKey,
  apiKeyHash,
  appsOf,
  attemptCount,
  auditEntry,
  auditOfUser,
  creation,
  devicesOfUser,
  emailLock,
  ferryhookKeys,
  githubLock,
  googleLock,
  keyByHashIndex,
  keysOfUser,
  knownDevice,
  knownNetwork,
  lakeTexts,
  oauthState,
  profile,
  session,
  sessionsOfUser,
  signingKey,
  signingKeys,
  stripeEvent,
  stripeLock,
  usageCount,
  usageOfShard,
  userByEmailIndex,
} from './table.ts';

// The entities of `ferryhook-main` that accounts owns. Webhooks adds its own.
export * from './billing/table.ts';
export * from './factors/table.ts';
export * from './mail/table.ts';
export * from './oauth-server/table.ts';
export * from './organisations/table.ts';
export * from './recovery/table.ts';
export * from './saved/table.ts';
export * from './table.ts';

export const accountsTable = defineTable(ferryhookKeys, {
  entities: [
    profile,
    emailLock,
    githubLock,
    googleLock,
    stripeLock,
    apiKey,
    apiKeyHash,
    session,
    auditEntry,
    usageCount,
    attemptCount,
    knownNetwork,
    knownDevice,
    signingKey,
    accountDeletion,
    creation,
    lakeTexts,
    oauthState,
    oauthClient,
    authorizationCode,
    stripeEvent,
    mailedToken,
    emailChange,
    subscription,
    authenticator,
    passkey,
    passkeyChallenge,
    outgoingMail,
    mailedNotice,
    failureDigest,
    organisation,
    member,
    invitation,
    organisationProvider,
    providerSubject,
    linkedSubject,
    saved,
    savedChange,
  ],
  queries: [
    userByEmailIndex,
    keyByHashIndex,
    keysOfUser,
    sessionsOfUser,
    appsOf,
    devicesOfUser,
    auditOfUser,
    usageOfShard,
    signingKeys,
    accountDeletions,
    accountsWithTexts,
    passkeysOfUser,
    mailsDue,
    mailsOfUser,
    noticesOf,
    membersOf,
    organisationsOf,
    invitationsOf,
    subjectsOf,
    linkedTo,
    savedOf,
  ],
});
