import { ownedByItem, ownedByKey, ownedByNobody } from '@stak/table';
import {
  invitation,
  linkedSubject,
  member,
  organisation,
  organisationProvider,
  providerSubject,
} from './access/tables.ts';
import { subscription } from './billing/tables.ts';
import * as table from './main-table.ts';
import { failureDigest, mailedNotice, outgoingMail } from './notices/tables.ts';
import { saved, savedChange } from './organisations/saved/tables.ts';
import {
  authenticator,
  emailChange,
  mailedToken,
  passkey,
  passkeyChallenge,
} from './people/credentials/tables.ts';
import { authorizationCode, oauthClient } from './people/oauth-server/tables.ts';

const account = (id: string | undefined) =>
  id === undefined ? undefined : ({ kind: 'account', id } as const);
const byAccount = ({ accountId }: { accountId?: string }) => account(accountId);
const byUser = ({ userId }: { userId?: string }) => account(userId);

// The owner whose storage each item of accounts counts towards.
export const accountOwners = [
  ownedByKey(table.profile, byUser),
  ownedByKey(table.apiKey, byUser),
  ownedByKey(table.session, byUser),
  ownedByKey(table.knownDevice, byUser),
  ownedByKey(table.auditEntry, byUser),
  ownedByKey(table.usageCount, byUser),
  ownedByKey(subscription, byUser),
  ownedByKey(table.accountDeletion, byUser),
  ownedByKey(table.creation, byUser),
  ownedByKey(table.lakeTexts, byAccount),
  ownedByKey(outgoingMail, byUser),
  ownedByKey(mailedNotice, byAccount),
  ownedByKey(failureDigest, byAccount),
  ownedByKey(authenticator, byUser),
  ownedByKey(passkey, byUser),
  ownedByKey(mailedToken, byUser),
  ownedByKey(emailChange, byUser),
  ownedByKey(organisation, byAccount),
  ownedByKey(member, byAccount),
  ownedByKey(invitation, byAccount),
  ownedByKey(organisationProvider, byAccount),
  ownedByKey(providerSubject, byAccount),
  ownedByKey(linkedSubject, byUser),
  ownedByKey(saved, byAccount),
  ownedByKey(savedChange, byAccount),
  ownedByItem(table.emailLock, byUser),
  ownedByItem(table.githubLock, byUser),
  ownedByItem(table.googleLock, byUser),
  ownedByItem(table.stripeLock, byUser),
  ownedByItem(table.apiKeyHash, byUser),
  ownedByNobody(table.attemptCount),
  ownedByNobody(table.knownNetwork),
  ownedByNobody(table.signingKey),
  ownedByNobody(table.oauthState),
  ownedByNobody(oauthClient),
  ownedByNobody(authorizationCode),
  ownedByNobody(passkeyChallenge),
  ownedByNobody(table.stripeEvent),
];
