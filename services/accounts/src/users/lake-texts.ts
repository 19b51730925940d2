import type { AccountPrincipal } from '@stak/http';
import { failedStep, write } from '@stak/table';
import { type Audit, doneBy } from '../audit.ts';
import type { Base } from '../deps.ts';
import { lakeTexts } from '../main-table.ts';
import type { Origin } from '../origin.ts';

type LakeTexts = {
  // Since when an account has texts in the lake; undefined if it does not.
  read(accountId: string): Promise<number | undefined>;
  set(by: AccountPrincipal, isOn: boolean, origin: Origin): Promise<void>;
};

// Whether an account's texts are in the lake. The audit trail records who changed it. Safe to repeat.
export function createLakeTexts({ store, clock, audit }: Base & { audit: Audit }): LakeTexts {
  return {
    read: async accountId => (await store.get(lakeTexts, { accountId }, { consistent: true }))?.sinceMs,
    async set(by, isOn, origin) {
      const { accountId } = by;
      const action = isOn ? 'lake.texts_enabled' : 'lake.texts_disabled';
      const setting = isOn
        ? write.put(lakeTexts, { accountId, sinceMs: clock.now() }, { ifAbsent: true })
        : write.delete(lakeTexts, { accountId }, { ifPresent: true });
      const steps = {
        'the setting': setting,
        audit: audit.step(accountId, { ...doneBy(by, origin), action }),
      };
      await store.transact(steps, { pattern: 'set texts in the lake' }).catch(error => {
        if (failedStep(error)?.step !== 'the setting') throw error;
      });
    },
  };
}
