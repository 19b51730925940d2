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
  credentialId?: string;
  target?: string;
  detail?: string;
};

export const doneBy = (
  { via, credentialId }: AccountPrincipal,
  { address, requestId }: Origin,
): Pick<Deed, 'via' | 'credentialId' | 'address' | 'requestId'> => ({
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
};

export function createAudit({ store, clock, ids }: Base): Audit {
  const entryOf = (userId: string, deed: Deed) => ({
    userId,
    auditId: ids.next(),
    at: isoTime(clock.now()),
    expiresAt: inSeconds(clock.now()) + limits.auditS,
    action: deed.action,
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
    list: (userId, page) => store.query(auditOfUser, { userId }, { ...page, caller: userId }),
  };
}
