import type { AnyEndpoint } from '@stak/http';
import {
  defineErrors,
  type Owners,
  type Random,
  type Sealer,
  systemRandom,
  unknownOwners,
  type Worker,
} from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import type { WriteStep } from '@stak/table';
import { createApiKeys, type KeyOwner } from './access/api-keys.ts';
import { createKeyRoutes } from './access/key-routes.ts';
import { createMemberships, type Standing } from './access/memberships.ts';
import { createAudit, type ShownEntry, showEntry } from './audit.ts';
import { createBackground } from './background.ts';
import { createBilling } from './billing/billing.ts';
import { billingErrors } from './billing/errors.ts';
import { nothingStored, type StorageUse } from './billing/storage/counts.ts';
import type { StripeSettings } from './billing/stripe.ts';
import { readBillingPeriod } from './billing/tables.ts';
import { createUsage } from './billing/usage.ts';
import { createUsageRoutes } from './billing/usage-routes.ts';
import type { AccountEraser, Base } from './deps.ts';
import { accountsErrors } from './errors.ts';
import * as limits from './limits.ts';
import { createNotices, type Notices } from './notices/notices.ts';
import { createOutbox, type MailSettings, type Outbox } from './notices/outbox.ts';
import { createUnsubscribeRoutes } from './notices/routes.ts';
import { createOrganisationRoutes } from './organisations/organisations.ts';
import { createOrganisationProviderRoutes } from './organisations/provider-routes.ts';
import { createSaved } from './organisations/saved/routes.ts';
import { createDeletions } from './people/account/deletion.ts';
import { createOperators } from './people/account/operators.ts';
import { createUserRoutes } from './people/account/routes.ts';
import { createCodes } from './people/credentials/codes.ts';
import { proveOwner, requireFresh } from './people/credentials/owner.ts';
import { createPasskeyChecks } from './people/credentials/passkey-check.ts';
import { createPasswords, type PasswordCost } from './people/credentials/passwords.ts';
import { createThrottle, type ThrottlePolicies } from './people/credentials/throttle.ts';
import { createPasskeyRoutes } from './people/factors/passkey-routes.ts';
import { createFactorRoutes } from './people/factors/routes.ts';
import { socialErrors } from './people/oauth/errors.ts';
import type { GithubSettings } from './people/oauth/github.ts';
import { createIssuers } from './people/oauth/issuers.ts';
import type { GoogleSettings } from './people/oauth/openid.ts';
import { createSocialSignIn } from './people/oauth/social-sign-in.ts';
import { createOAuthServer } from './people/oauth-server/oauth-server.ts';
import { resolveReset } from './people/recovery/password-reset.ts';
import { createRecoveryRoutes } from './people/recovery/routes.ts';
import { type CheckEndUser, createAuthenticate } from './people/sessions/authenticate.ts';
import { createBrowser } from './people/sessions/browser.ts';
import { createJwksRoute } from './people/sessions/jwks-route.ts';
import { createSessions } from './people/sessions/sessions.ts';
import { createSigningKeys } from './people/sessions/signing-keys.ts';
import { createTokens } from './people/sessions/tokens.ts';
import { createSignInRoutes } from './people/sign-in/routes.ts';
import { resolveSignUp } from './people/sign-in/sign-up.ts';
import { createPlanReader, type PlanName, plansWith, type StorageLimits } from './plans.ts';
import { createRecent } from './recent.ts';
import { auditSubscription } from './subscriptions.ts';
import { accountsTable } from './tables.ts';
import { createLakeTexts } from './users/lake-texts.ts';
import { createUsers } from './users/users.ts';
import { createWhy } from './why.ts';

export type { ApiKeys, NewApiKey } from './access/api-keys.ts';
export { keyProblems } from './access/key-limits.ts';
export { mcpResource, resourceMetadataPath } from './app-scopes.ts';
export type { Audit, AuditRecord, ShownEntry } from './audit.ts';
export { listStorage, type StorageUse } from './billing/storage/counts.ts';
export { type StorageNotice, sizeText } from './billing/storage/limit.ts';
export { createStorage, type ServiceOwners, type Storage } from './billing/storage/storage.ts';
export { requestRecount } from './billing/storage/table-state.ts';
export { mark as storageMark, storageTable } from './billing/storage/tables.ts';
export { subscription } from './billing/tables.ts';
export { createUsage, type Usage } from './billing/usage.ts';
export type { AccountEraser } from './deps.ts';
export { accountsErrors } from './errors.ts';
export type { ApiKey } from './main-table.ts';
export type { MailSettings } from './notices/outbox.ts';
export { accountOwners } from './owners.ts';
export type { PasswordCost } from './people/credentials/passwords.ts';
export type { ThrottlePolicies } from './people/credentials/throttle.ts';
export type { CheckEndUser } from './people/sessions/authenticate.ts';
export type { EndUserClaims, EndUserGrant, Minted } from './people/sessions/tokens.ts';
export {
  type Plan,
  type PlanName,
  planNames,
  planOf,
  plans,
  plansWith,
  type StorageLimits,
} from './plans.ts';
export { accountsTable } from './tables.ts';
export type { NewUser, User, UserChange, Users } from './users/users.ts';

export type AccountsDeps = Base & {
  sealer: Sealer;
  publicUrl: string; // where browsers reach us; also the issuer of our tokens
  isHttps?: boolean; // whether browsers reach us by https; by default, read from `publicUrl`
  allowedOrigins?: readonly string[]; // other addresses that serve a console, like https://console.example
  erasers?: () => readonly AccountEraser[]; // of the other services, called when an account is deleted
  // Ends what other services gave out: all of a person's own account, and of another one what they asked for.
  endAccess?(accountId: string, userId: string): Promise<void>;
  checkEndUser?: CheckEndUser;
  github?: GithubSettings;
  google?: GoogleSettings;
  stripe?: StripeSettings;
  outbound?: Outbound; // for the providers of organisations and tenants; without it, those are disabled
  mail?: MailSettings; // without it no mail is sent, and operations that need one say so
  // Accounts are created for confirmed addresses only, and signing up does not reveal which addresses have one.
  signsUpByMail?: boolean;
  // Resolves a sign-in to a tenant's portal. Implemented by services/tenants.
  resolveTenantSignIn?(request: {
    to: string;
    details: Readonly<Record<string, string>>;
  }): Promise<Readonly<Record<string, WriteStep>>>;
  owners?: Owners; // of leases
  passwordCost?: PasswordCost;
  throttles?: Partial<ThrottlePolicies>;
  // Notifies other processes, before the write, that a credential of the account is revoked, so that open event streams
  // end.
  announceRevoked?: (revoked: { account: string }) => Promise<void>;
  // Called for each entry of an account's audit trail, at least once for each `auditId`.
  onAudit?(accountId: string, entry: ShownEntry): Promise<void>;
  defaultPlan?: PlanName; // of accounts that bought none; free by default
  storageLimits?: StorageLimits; // override the plans' limits for this installation
  readStorage?: (accountId: string) => Promise<StorageUse>; // without it, nothing is counted
  countTenants?: (accountId: string) => Promise<{ used: number | null; limit: number | null }>;
  authCacheMs?: number; // 0 reads the table for every request
  random?: Random;
};

const allErrors = defineErrors({
  ...accountsErrors.statuses,
  ...socialErrors.statuses,
  ...billingErrors.statuses,
});

export function createAccounts(given: AccountsDeps) {
  const { clock, log, publicUrl, sealer, authCacheMs: mostMs = limits.authCacheMs, allowedOrigins } = given;
  const isHttps = given.isHttps ?? new URL(publicUrl).protocol === 'https:';
  const pages = { publicUrl, allowedOrigins };
  const base: Base = { store: given.store, clock, ids: given.ids, log };

  // If other processes cannot be notified, revoking still goes ahead: their streams end a little later.
  const announceEnd = async (...accounts: (string | undefined)[]): Promise<void> => {
    for (const account of new Set(accounts))
      if (account !== undefined)
        await given
          .announceRevoked?.({ account })
          .catch(error => log.warn({ err: error }, 'could not publish a revocation'));
  };

  const live = createRecent<true>({ clock, mostMs }); // keys

  const usage = createUsage({
    ...base,
    random: given.random,
    billingPeriodOf: given.stripe && (userId => readBillingPeriod(base.store, userId)),
  });
  const users = createUsers({ ...base, usage });
  const audit = createAudit(base);
  const memberships = createMemberships({ ...base, users, audit });
  const apiKeys = createApiKeys({
    ...base,
    memberships,
    announceEnd,
    live,
    owners: createRecent<KeyOwner>({ clock, mostMs }),
  });
  const background = createBackground({ log });
  const passwords = createPasswords({ cost: given.passwordCost });
  const throttle = createThrottle({ ...base, policies: given.throttles });
  const keys = createSigningKeys({ ...base, sealer });
  const tokens = createTokens({ clock, issuer: publicUrl, keys });
  const standings = createRecent<Standing>({ clock, mostMs });
  const sessions = createSessions({ ...base, sealer, tokens, audit, memberships, standings, announceEnd });
  const outbox: Outbox = createOutbox({
    ...base,
    sealer,
    owners: given.owners ?? unknownOwners(given.ids),
    random: given.random ?? systemRandom,
    mail: given.mail,
    resolve: async (request, token) => {
      if (request.kind === 'tenant.sign_in_requested')
        return (await given.resolveTenantSignIn?.(request)) ?? {};
      if (request.kind === 'sign_up.requested')
        return resolveSignUp({ ...base, users, outbox }, request, token);
      if (request.kind === 'notice.due') return notices.resolve(request);
      return resolveReset({ users, audit, clock, outbox }, request);
    },
  });
  const notices: Notices = createNotices({ ...base, users, memberships, outbox, sealer });
  const codes = createCodes({ ...base, sealer });
  const issuer = given.mail?.brand.name ?? 'Stak';
  const passkeys = createPasskeyChecks({ ...base, ...pages, audit, name: issuer });
  const factors = { codes, passkeys };
  const signing = { ...base, users, sessions, passwords, throttle, audit, background, outbox, ...factors };
  const browser = createBrowser({ publicUrl, isHttps, allowedOrigins });

  const { github, google, stripe } = given;
  const social = createSocialSignIn({
    ...signing,
    browser,
    pages,
    github,
    google,
    proveOwner: async (signed, password) =>
      requireFresh(signing, signed, await proveOwner(signing, signed, password)),
  });
  const issuers = createIssuers({ ...base, outbound: given.outbound, publicUrl });
  const billing = createBilling({ ...base, users, audit, pages, stripe, outbox, notices });
  const saved = createSaved(base);
  const erasers = () => [saved.eraser, billing.eraser, ...(given.erasers?.() ?? [])];
  const deletions = createDeletions({ ...signing, memberships, apiKeys, usage, erasers });
  const plans = plansWith(given.storageLimits ?? {});
  const { defaultPlan = 'free' } = given;

  const requireFreshSession = (signed: { userId: string; sessionId: string }) =>
    requireFresh(signing, signed);
  const organising = { ...signing, browser, memberships, apiKeys, plans, defaultPlan };

  const api = [
    ...createSignInRoutes({ ...signing, browser, signsUpByMail: given.signsUpByMail ?? false }),
    ...createUserRoutes({
      ...signing,
      browser,
      deletions,
      defaultPlan,
    }),
    ...createUsageRoutes({
      users,
      plans,
      defaultPlan,
      readStorage: given.readStorage ?? (async () => nothingStored),
      countTenants: given.countTenants ?? (async () => ({ used: null, limit: null })),
    }),
    ...createOrganisationRoutes(organising),
    ...createRecoveryRoutes({ ...signing, browser, apiKeys, memberships, endAccess: given.endAccess }),
    ...createUnsubscribeRoutes({ users, audit, notices, name: issuer }),
    ...createFactorRoutes({ ...signing, issuer }),
    ...createPasskeyRoutes({ ...signing, issuer, browser, hasOtherWay: social.hasWayIn }),
    ...createKeyRoutes({ apiKeys, audit, requireFresh: requireFreshSession }),
    createJwksRoute(keys),
    ...saved.api,
    ...social.api,
    ...createOAuthServer({ ...organising, sealer, tokens, publicUrl, issuer }),
    ...createOrganisationProviderRoutes({ ...organising, pages, sealer, issuers }),
    ...billing.api,
  ] as const satisfies readonly AnyEndpoint[];

  return {
    api,
    errors: allErrors,
    tables: [accountsTable],
    subscriptions: given.onAudit
      ? [auditSubscription(entry => given.onAudit!(entry.userId, showEntry(entry)))]
      : [],
    workers: [keys.worker, deletions.worker, ...outbox.workers] as readonly Worker[],
    authenticate: createAuthenticate({
      clock,
      tokens,
      sessions,
      apiKeys,
      background,
      checkEndUser: given.checkEndUser,
    }),
    mintEndUserToken: tokens.mintEndUser,
    users,
    apiKeys,
    usage,
    readPlan: createPlanReader({ readProfile: users.readProfile, plans, defaultPlan, log }),
    audit,
    why: createWhy({ store: base.store, audit }),
    lakeTexts: createLakeTexts({ ...base, audit }),
    sessions,
    isVerified: memberships.isVerified,
    isMember: memberships.isMember,
    requireFresh: requireFreshSession,
    operators: createOperators({ ...base, users, sessions, apiKeys, audit }),
    // Call before the first request, once the tables exist.
    prepare: keys.prepare,
    // For mail that other services send. Undefined if this server sends no mail.
    mail: given.mail && {
      steps: outbox.steps,
      wake: outbox.wake,
      // Counted per account, so that one account's tenants do not use up the limit of another's.
      tryMail: ({ account, ...to }: { email: string; address: string | undefined; account: string }) =>
        throttle.tryMail({ ...to, purpose: `portal of ${account}` }),
      tryInvitation: throttle.tryInvitation,
    },
    // Mails to the members of an account, each sent once. They do nothing if mail is not configured.
    notices: { limitReached: notices.limitReached, deliveriesFail: notices.deliveriesFail },
    issuers, // for sign-in through a tenant's own provider
    sendMails: outbox.sendDue, // sends what is due now; the worker does so on its own
    rotateSigningKeys: keys.rotate,
    finishDeletions: deletions.finishAll,
    // Resolves when all background writes are done. Call it before closing the store.
    settle: background.settle,
  };
}

export type Accounts = ReturnType<typeof createAccounts>;
