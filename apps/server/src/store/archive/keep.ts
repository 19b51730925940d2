import * as accounts from '@stak/accounts/tables';
import * as agents from '@stak/agents/tables';
import { inboxTable } from '@stak/inbox';
import type { AnyEntity, Attributes } from '@stak/table';
import * as tasks from '@stak/tasks/tables';
import * as tenants from '@stak/tenants/tables';
import * as webhooks from '@stak/webhooks/tables';

// Decides what an import of accounts takes from an archive. A customer may have written the archive, so what only the
// server may grant is left out unless the operator asks for it.

export const keepNames = ['plan', 'verified', 'roles', 'credentials'] as const;
export type Keep = (typeof keepNames)[number];

/**
 * `data` is the customer's own. `records` are what the server noted for itself: they are taken only if the seal proves
 * that this server made the archive. The others need the operator's word.
 */
type Rule = 'data' | 'records' | Keep;

const entitiesBy: Readonly<Record<Rule, readonly AnyEntity[]>> = {
  data: [
    accounts.profile, // see below
    accounts.emailLock,
    accounts.auditEntry,
    accounts.creation,
    accounts.lakeTexts,
    accounts.saved,
    accounts.savedChange,
    webhooks.source,
    webhooks.sourcePointer,
    webhooks.connection,
    webhooks.connectionPointer,
    webhooks.alert,
    webhooks.event,
    webhooks.payload,
    webhooks.delivery,
    webhooks.attempt,
    webhooks.dedupe,
    webhooks.orderEntry,
    webhooks.backlog,
    webhooks.rateBucket,
    webhooks.job,
    webhooks.dayCount,
    webhooks.totalCount,
    tenants.tenant,
    tenants.accountTenant,
    tenants.user,
    tenants.emailLock,
    tenants.identityLock,
    tenants.channelMapping,
    tenants.channelClaim,
    tenants.propertiesSchema,
    tenants.tokenEpoch,
    tenants.erasure,
    tenants.openErasure,
    ...inboxTable.entities, // every key has the tenant, and nothing in it signs anyone in
    agents.conversation,
    agents.state,
    agents.turn,
    agents.message,
    agents.pausedTurn,
    agents.approval,
    agents.channelSecrets,
    agents.tenantChannel,
    agents.notice,
    agents.customSkill,
    agents.namedAgent,
    agents.agentVersion,
    agents.mcpServer,
    agents.creation,
    agents.memory,
    agents.memoryChoice,
    agents.forgotten,
    agents.memoryJob,
    agents.turnVector,
    agents.factVector,
    tasks.user,
    tasks.task,
    tasks.tally,
    tasks.expiry,
    tasks.change,
    tasks.trashed,
    tasks.reminder,
    tasks.bulkProgress,
    tasks.emailLock,
    tasks.member,
  ],
  records: [
    accounts.outgoingMail,
    accounts.mailedNotice,
    accounts.failureDigest,
    tasks.idempotency,
    // Limits are compared with these.
    accounts.usageCount,
    tenants.tenantCount,
    tenants.userCount,
    agents.tenantDay,
    agents.userDay,
    agents.agentDay,
    agents.accountDay,
  ],
  plan: [accounts.subscription, accounts.stripeLock],
  verified: [],
  roles: [accounts.organisation, accounts.member, accounts.invitation],
  credentials: [
    accounts.apiKey,
    accounts.apiKeyHash,
    accounts.session,
    accounts.knownDevice,
    accounts.mailedToken,
    accounts.emailChange,
    accounts.authenticator,
    accounts.passkey,
    accounts.githubLock,
    accounts.googleLock,
    accounts.organisationProvider,
    accounts.providerSubject,
    accounts.linkedSubject,
    tenants.invitation,
    tenants.signIn,
    tenants.portalSession,
    tenants.portalProvider,
    tasks.feed,
  ],
};

const rules = new Map(
  Object.entries(entitiesBy).flatMap(([rule, entities]) =>
    entities.map((entity): [AnyEntity, Rule] => [entity, rule as Rule]),
  ),
);

/** Undefined for an entity that nobody has thought of: an archive that has one is refused. */
export const ruleOf = (entity: AnyEntity): Rule | undefined => rules.get(entity);

// An account that an operator has disabled stays disabled.
const attributesOfProfile: Readonly<Record<'data' | Keep, readonly string[]>> = {
  data: [
    'userId',
    'email',
    'name',
    'mailsOff',
    'isOrganisation',
    'disabledAt',
    'createdAt',
    'updatedAt',
    'version',
  ],
  plan: ['plan', 'planFixed', 'stripeCustomerId', 'stripeSubId'],
  verified: ['emailVerified'],
  roles: ['signsInto', 'madeFor', 'claimedEmail'],
  credentials: ['passwordHash', 'secondFactor', 'passkeys', 'githubId', 'googleId'],
};

/** The profile with what is taken of it, and the names of the rest. */
export function keepOfProfile(
  item: Attributes,
  keep: ReadonlySet<Keep>,
  importedAt: string,
): { item: Attributes; leftOut: string[] } {
  const { keyNames } = accounts.profile.table;
  const kept: Attributes = { plan: 'free', importedAt }; // free means the default of this server
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(item)) {
    const isKept =
      keyNames.has(name) ||
      attributesOfProfile.data.includes(name) ||
      keepNames.some(group => keep.has(group) && attributesOfProfile[group].includes(name));
    if (isKept) kept[name] = value;
    else if (name !== 'importedAt' && (name !== 'plan' || value !== 'free')) leftOut.push(name);
  }
  return { item: kept, leftOut };
}
