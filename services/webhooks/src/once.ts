import type { Ids } from '@stak/kit';
import { isUnavailable } from '@stak/table';

// Lets a change be made once for each Idempotency-Key: `ids` are the same each time the request runs for its key,
// and `isRepeated` says that an earlier run may have made the change.
export type Once = { ids: Ids; isRepeated: boolean | undefined };

export const onceOf = (c: { get(name: 'ids'): Ids; get(name: 'isRepeated'): boolean | undefined }): Once => ({
  ids: c.get('ids'),
  isRepeated: c.get('isRepeated'),
});

// Makes a change, unless `find` returns what an earlier run of the same request has made.
export async function makeOnce<T>(
  { isRepeated }: Pick<Once, 'isRepeated'>,
  find: () => Promise<T | undefined>,
  make: () => Promise<T>,
): Promise<T> {
  const made = isRepeated ? await find() : undefined;
  if (made !== undefined) return made;
  try {
    return await make();
  } catch (error) {
    // The earlier run may have been slow, and come first all the same.
    const late = isRepeated && !isUnavailable(error) ? await find() : undefined;
    if (late === undefined) throw error;
    return late;
  }
}
