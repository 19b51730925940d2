import { type Findings, type Ref, type Thing, timeOf } from '@stak/kit';
import type { Store } from '@stak/table';
import { type Audit, maySee } from './audit.ts';
import { isoTime } from './deps.ts';
import { type AuditEntry, auditEntry } from './main-table.ts';

// Where chains of causes begin: requests, and what the audit trail says about them. See
// docs/adr/0236-what-is-written-names-its-cause.md

const requestMs = 2 * 60_000; // between the beginning of a request and its line in the trail, at most

const requestRef = (accountId: string, requestId: string): Ref => ({
  kind: 'request',
  parts: [accountId, requestId],
});

const byOf = ({ via, by, credentialId }: AuditEntry): string =>
  [via, by ?? credentialId].filter(part => part !== undefined).join(' ');

export function createWhy({ store, audit }: { store: Store; audit: Pick<Audit, 'list'> }): Findings {
  // Requests are not stored. Those that the trail has are found by their time, which is in their ids.
  const entryOf = async (
    accountId: string,
    requestId: string,
    viewer: string,
  ): Promise<AuditEntry | undefined> => {
    const atMs = timeOf(requestId);
    if (atMs === undefined) return undefined;
    const range = { from: isoTime(atMs), to: isoTime(atMs + requestMs), limit: 100 };
    const { items } = await audit.list(accountId, range, viewer);
    return items.find(entry => entry.requestId === requestId);
  };

  return {
    async request([accountId = '', requestId = ''], asker) {
      const { auditor } = asker;
      const isOwn = accountId === asker.accountId;
      const entry = isOwn && auditor !== undefined ? await entryOf(accountId, requestId, auditor) : undefined;
      const thing: Thing = {
        ref: requestRef(accountId, requestId),
        at: entry ? Date.parse(entry.at) : timeOf(requestId),
        what: entry ? `${entry.action} ${entry.target ?? ''}`.trim() : 'a request to the API',
        by: entry && byOf(entry),
        owner: { account: accountId },
        followed: [],
      };
      return [thing];
    },
    async audit([accountId = '', auditId = ''], asker) {
      const { auditor } = asker;
      const found =
        auditor === undefined ? undefined : await store.get(auditEntry, { userId: accountId, auditId });
      const entry = found && maySee(found, auditor!) ? found : undefined;
      const { requestId } = entry ?? {};
      const thing: Thing = {
        ref: { kind: 'audit', parts: [accountId, auditId] },
        at: entry ? Date.parse(entry.at) : timeOf(auditId),
        what: entry ? `${entry.action} ${entry.target ?? ''}`.trim() : 'a line of the audit trail',
        by: entry && byOf(entry),
        owner: { account: accountId },
        cause: requestId === undefined ? undefined : requestRef(accountId, requestId),
        followed: [],
      };
      return [thing];
    },
  };
}
