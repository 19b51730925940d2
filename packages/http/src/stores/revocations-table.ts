import { randomBytes } from 'node:crypto';
import type { Clock } from '@stak/kit';
import { ref, type Store } from '@stak/table';
import * as limits from '../limits.ts';
import { revocationSlot } from './http-table.ts';
import { type Revocations, subjectOf } from './revocations.ts';

// Notices of one time slot are one item: a process reads the current slot and its neighbours, because clocks differ by
// a second or two.
export function createTableRevocations({ store, clock }: { store: Store; clock: Clock }): Revocations {
  const slotAt = (ms: number): number => Math.floor(ms / limits.revocationSlotMs);
  return {
    async announce(...revoked) {
      const slot = slotAt(clock.now());
      const id = randomBytes(9).toString('base64url');
      const expires_at = Math.ceil(((slot + 3) * limits.revocationSlotMs) / 1000);
      await store.update(
        revocationSlot,
        { slot },
        {
          add: { notices: new Set(revoked.map(revocation => `${id} ${subjectOf(revocation)}`)) },
          set: { expires_at },
        },
        { upsert: true, pattern: 'announce a revocation' },
      );
    },
    async recent() {
      const now = slotAt(clock.now());
      const refs = [now - 1, now, now + 1].map(slot => ref(revocationSlot, { slot }));
      const notices = await store.batchGet(refs, { consistent: true, pattern: 'recent revocations' });
      return notices.flatMap(item =>
        [...(item?.notices ?? [])].map(id => ({ id, subject: id.slice(id.indexOf(' ') + 1) })),
      );
    },
  };
}
