import type { AccountPrincipal } from '@stak/http';
import { cutText } from '@stak/kit';
import { type ResultPage, type WriteStep, write } from '@stak/table';
import { type Base, inSeconds, isoTime, type Origin } from './deps.ts';
import * as limits from './limits.ts';
import { type AuditEntry, auditEntry, auditOfUser } from './table.ts';

// Who did what, from where. `action` is like `key.created`, `target` the id of what it was done to.
export type Deed = Omit<Origin, 'userAgent'> & {
  action: string;
  via: string;
  by?: string | null; // the person; null if nobody knows who it was
  credentialId?: string;
  target?: string;
  detail?: string;
};

// Ways of doing something to one's own account: unless told, it was its person.
const personal: ReadonlySet<string> = new Set(['session', 'password', 'github', 'google']);

export const doneBy = (
  { via, credentialId, userId }: AccountPrincipal,
  { address, requestId }: Origin,
): Pick<Deed, 'by' | 'via' | 'credentialId' | 'address' | 'requestId'> => ({
  by: userId,
  via,
  credentialId,
  address,
  requestId,
});

export type Audit = {
  // For the transaction that does it: no deed without its entry, no entry without its deed.
  step(userId: string, deed: Deed): WriteStep;
  record(userId: string, deed: Deed): Promise<void>;
  list(userId: string, page: { limit?: number; cursor?: string }): Promise<ResultPage<AuditEntry>>;
  all(userId: string): AsyncGenerator<AuditEntry>;
};

export function createAudit({ store, clock, ids }: Base): Audit {
  const entryOf = (userId: string, deed: Deed) => ({
    userId,
    auditId: ids.next(),
    at: isoTime(clock.now()),
    expiresAt: inSeconds(clock.now()) + limits.auditS,
    action: deed.action,
    by: deed.by === undefined && personal.has(deed.via) ? userId : (deed.by ?? undefined),
    via: deed.via,
    credentialId: deed.credentialId,
    address: deed.address,
    requestId: deed.requestId,
    target: deed.target,
    detail: deed.detail && cutText(deed.detail, limits.auditDetailChars),
  });
  return {
    step: (userId, deed) => write.put(auditEntry, entryOf(userId, deed)),
    async record(userId, deed) {
      await store.put(auditEntry, entryOf(userId, deed));
    },
    all: userId => store.all(auditOfUser, { userId }),
    list: (userId, page) => store.query(auditOfUser, { userId }, { ...page, caller: userId }),
  };
}
