import type { AccountPrincipal } from '@stak/http';
import { cutText } from '@stak/kit';
import { type ResultPage, type WriteStep, write } from '@stak/table';
import { type Base, inSeconds, isoTime } from './deps.ts';
import * as limits from './limits.ts';
import { type AuditEntry, auditEntry, auditOfUser } from './main-table.ts';
import type { Origin } from './origin.ts';

// Who did what, and from where. `action` is like `key.created`; `target` is the id of the thing that was changed.
export type AuditRecord = Omit<Origin, 'userAgent'> & {
  action: string;
  via: string;
  by?: string | null; // the person; null if unknown
  credentialId?: string;
  target?: string;
  detail?: string;
};

// Ways in which people act on their own account. `by` defaults to the account's own person for these.
const personal: ReadonlySet<string> = new Set([
  'session',
  'password',
  'passkey',
  'github',
  'google',
  'organisation',
]);

// Actions that concern the person alone, not their organisation.
const ofOneself = /^(?:session|password|factor|passkey|email|identity)\.|^account\.changed$/;
export const maySee = ({ userId, by = userId, action }: AuditEntry, viewer: string): boolean =>
  viewer === userId || by !== userId || !ofOneself.test(action);

export const doneBy = (
  { via, credentialId, userId }: AccountPrincipal,
  { address, requestId }: Origin,
): Pick<AuditRecord, 'by' | 'via' | 'credentialId' | 'address' | 'requestId'> => ({
  by: userId,
  via,
  credentialId,
  address,
  requestId,
});

type AuditFilter = {
  by?: string;
  action?: string; // whole, or a prefix up to a dot: `key`
  from?: string;
  to?: string;
};

const isWithin = (name: string, wanted: string): boolean => name === wanted || name.startsWith(`${wanted}.`);
const passes = ({ by, action, at }: AuditEntry, filter: AuditFilter): boolean =>
  (filter.by === undefined || by === filter.by) &&
  (filter.action === undefined || isWithin(action, filter.action)) &&
  (filter.from === undefined || at >= filter.from) &&
  (filter.to === undefined || at < filter.to);

export type Audit = {
  // A step for the transaction that makes the change, so that neither is stored without the other.
  step(userId: string, entry: AuditRecord): WriteStep;
  record(userId: string, entry: AuditRecord): Promise<void>;
  // Filtered for `viewer`: what the account's own person did to themselves is visible to that person alone.
  list(
    userId: string,
    page: { limit?: number; cursor?: string } & AuditFilter,
    viewer?: string,
  ): Promise<ResultPage<AuditEntry>>;
  all(userId: string, viewer?: string): AsyncGenerator<AuditEntry>;
};

export function createAudit({ store, clock, ids }: Base): Audit {
  const entryOf = (userId: string, entry: AuditRecord) => ({
    userId,
    auditId: ids.next(),
    at: isoTime(clock.now()),
    expiresAt: inSeconds(clock.now()) + limits.auditS,
    action: entry.action,
    by: entry.by === undefined && personal.has(entry.via) ? userId : (entry.by ?? undefined),
    via: entry.via,
    credentialId: entry.credentialId,
    address: entry.address,
    requestId: entry.requestId,
    target: entry.target,
    detail: entry.detail && cutText(entry.detail, limits.auditDetailChars),
  });
  return {
    step: (userId, entry) => write.put(auditEntry, entryOf(userId, entry)),
    async record(userId, entry) {
      await store.put(auditEntry, entryOf(userId, entry));
    },
    async *all(userId, viewer = userId) {
      for await (const entry of store.all(auditOfUser, { userId })) if (maySee(entry, viewer)) yield entry;
    },
    async list(userId, { limit, cursor, ...filter }, viewer = userId) {
      let next = cursor;
      for (let read = 1; ; read++) {
        const page = await store.query(auditOfUser, { userId }, { limit, cursor: next, caller: userId });
        const items = page.items.filter(entry => maySee(entry, viewer) && passes(entry, filter));
        const last = page.items.at(-1);
        const isOver = last !== undefined && filter.from !== undefined && last.at < filter.from;
        next = isOver ? undefined : page.cursor;
        if (items.length > 0 || next === undefined || read === limits.auditPages)
          return { ...page, items, cursor: next };
      }
    },
  };
}

export type ShownEntry = Omit<AuditEntry, 'userId' | 'expiresAt'>;
export function showEntry({ userId: _, expiresAt: __, ...shown }: AuditEntry): ShownEntry {
  return shown;
}
