import { defineTable } from '@stak/table';
import { subscription } from './billing/tables.ts';
import { authenticator, passkey, passkeyChallenge, passkeysOfUser } from './people/credentials/tables.ts';
import { failureDigest, mailedNotice, mailsDue, mailsOfUser, noticesOf, outgoingMail } from './notices/tables.ts';
import { authorizationCode, oauthClient } from './people/oauth-server/tables.ts';
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
} from './access/tables.ts';
import { emailChange, mailedToken } from './people/credentials/recovery-tables.ts';
import { saved, savedChange, savedOf } from './organisations/saved/tables.ts';
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
} from './main-table.ts';

// The entities of `ferryhook-main` that accounts owns. Webhooks adds its own.
export * from './billing/tables.ts';
export * from './people/credentials/tables.ts';
export * from './notices/tables.ts';
export * from './people/oauth-server/tables.ts';
export * from './access/tables.ts';
export * from './people/credentials/recovery-tables.ts';
export * from './organisations/saved/tables.ts';
export * from './main-table.ts';

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
