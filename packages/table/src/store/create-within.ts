import type { AnyEntity, InputOf, ItemOf, KeyOf } from '../design/entity.ts';
import { creationTries } from '../limits.ts';
import { failedCondition } from '../writes/conflict.ts';
import { type WriteStep, write } from '../writes/steps.ts';
import type { Store } from './store.ts';

/**
 * Creates something whose number is limited, and never one too many, however many callers create at the same time.
 * `mark` is an item with a version that each creation writes. `check` counts existing items, consistently, and throws
 * if the limit is reached. `create` makes a transaction with the step it is given: of callers that counted at the same
 * time one succeeds, and the others count again. Because existing items are counted rather than creations, a lost
 * response changes nothing.
 *
 *     await createWithin(store, lastNote, {
 *       key: { userId },
 *       mark: () => ({ userId, expiresAt }),
 *       check: async () => { if ((await countNotes(userId)) >= 10) throw tooMany(); },
 *       create: step => store.transact({ note: write.put(note, made, { ifAbsent: true }), ...step }),
 *     });
 */
export async function createWithin<E extends AnyEntity, T>(
  store: Pick<Store, 'get'>,
  entity: E,
  creation: {
    key: KeyOf<E>;
    mark(last: ItemOf<E> | undefined): InputOf<E>;
    check(last: ItemOf<E> | undefined): Promise<void>;
    create(step: { creation: WriteStep }): Promise<T>;
  },
): Promise<T> {
  for (let left = creationTries; ; left--) {
    const last = await store.get(entity, creation.key, { consistent: true });
    await creation.check(last);
    const guard = last ? { ifVersion: (last as { version: number }).version } : { ifAbsent: true as const };
    try {
      return await creation.create({ creation: write.put(entity, creation.mark(last), guard) });
    } catch (error) {
      if (left === 1 || !failedCondition(error, 'creation')) throw error;
    }
  }
}
