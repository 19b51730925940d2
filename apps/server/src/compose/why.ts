import type { EndUserPrincipal } from '@stak/http';
import { type Asker, type Findings, type Ref, readCause, refOfCause, type Thing } from '@stak/kit';
import { requestOfCall } from '@stak/tasks';
import { ownTenant } from '../store/own-tenant.ts';
import type { OpenServices } from './services.ts';

type Uses = Pick<OpenServices, 'accounts' | 'tenants' | 'inbox' | 'webhooks' | 'tasks' | 'agents'>;

const ref = (kind: string, ...parts: string[]): Ref => ({ kind, parts });

// How things of different services cause each other: the other half of what `notices.ts` and `skill-ports.ts` do. A
// message that they send has a key, which says what it is about.
export function findingsOf({ accounts, tenants, inbox, webhooks, tasks, agents }: Uses): Findings {
  const find = (found: Ref, asker: Asker): Promise<readonly Thing[]> =>
    findings[found.kind]?.(found.parts, asker) ?? Promise.resolve([]);
  const hosted = (asker: Asker, ...parts: string[]) => find(ref('hosted', ...parts), asker);

  const between: Findings = {
    // An admin who has decided, and was erased since, is not named.
    async approval(parts, asker) {
      const [found] = await agents.why.findings.approval!(parts, asker);
      if (!found) return [];
      const { by, owner } = found;
      const uid = by?.startsWith('user:') ? by.slice('user:'.length) : undefined;
      const isKnown =
        uid === undefined ||
        owner.users?.includes(uid) ||
        (await tenants.roleOf(owner.tenant!, uid)) !== undefined;
      return [isKnown ? found : { ...found, by: undefined }];
    },
    // The messages that others became.
    alerted: ([account = '', key = '', eventId = ''], asker) =>
      hosted(asker, ownTenant, 'alerts', key, ...(eventId === '-' ? [] : [eventId])).then(found =>
        found.filter(({ owner }) => owner.users?.includes(account)),
      ),
    reminding: ([key = '', first = '', uid], asker) =>
      uid === undefined
        ? hosted(asker, ownTenant, 'tasks', key)
        : hosted(asker, first, 'tasks', key).then(found =>
            found.filter(({ owner }) => owner.users?.includes(uid)),
          ),
    sent: ([tenant = '', key = ''], asker) => hosted(asker, tenant, 'agent', key),
    requested: async ([tenant = '', approval = '', uid], asker) => [
      ...(uid === undefined ? [] : await hosted(asker, tenant, 'approvals', `${approval}.${uid}`)),
      ...(await hosted(asker, ownTenant, 'approvals', approval)),
    ],
    // The cause of a message.
    async notice([cause = '', tenant = '', inboxKey = '', key = '', uid = ''], asker) {
      const { kind } = readCause(cause) ?? {};
      const [first = '', second = ''] = key.split(/[.:]/);
      if (kind === 'event' && tenant === ownTenant && inboxKey === 'alerts')
        return find(ref('alert', uid, ...key.split('.'), cause), asker);
      if (kind === 'task' && inboxKey === 'tasks' && first === cause)
        return find(ref('reminded', cause, second, ...(tenant === ownTenant ? [] : [tenant]), uid), asker);
      if (kind === 'turn' && inboxKey === 'approvals') return findApproval(cause, first, asker);
      if (kind === 'turn' && first === cause) return find(ref('call', cause, second), asker);
      const other = refOfCause(cause, asker.accountId);
      return other ? find(other, asker) : [];
    },
    // The call of a turn that has created a task with this request.
    async caller([turnId = '', userId = '', requestId = ''], asker) {
      for (const call of await agents.why.callsOf(turnId))
        if (requestOfCall(userId, `${turnId}.${call}`) === requestId)
          return find(ref('call', turnId, call), asker);
      return find(ref('turn', turnId), asker);
    },
  };
  const findApproval = async (turnId: string, approvalId: string, asker: Asker) => {
    const [turn] = await find(ref('turn', turnId), asker);
    const asked = turn?.followed.find(({ kind, parts }) => kind === 'approval' && parts[2] === approvalId);
    return asked ? find(asked, asker) : turn ? [turn] : [];
  };

  const findings: Findings = {
    ...accounts.why,
    ...inbox.why,
    ...webhooks.why,
    ...tasks.why,
    ...agents.why.findings,
    ...between,
  };
  return findings;
}

// Whose account a caller asks about.
export const accountOfUser =
  ({ tenants }: Pick<Uses, 'tenants'>) =>
  async ({ tenantId, userId }: EndUserPrincipal): Promise<string | undefined> =>
    tenantId === ownTenant ? userId : tenants.accountOf(tenantId);

// A tenant that is suspended shows nothing, as elsewhere.
export const accountOfTenant =
  ({ tenants }: Pick<Uses, 'tenants'>) =>
  async (tenantId: string): Promise<string | undefined> =>
    (await tenants.isActive(tenantId)) ? tenants.accountOf(tenantId) : undefined;
