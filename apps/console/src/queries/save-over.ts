import { StakError } from '@stak/client';
import { useState } from 'react';

/** Data with the version that a change of it applies to. */
export type Versioned<T> = { data: T; etag: string | undefined };

export const versioned = <T>({ data, etag }: Versioned<T>): Versioned<T> => ({ data, etag });

export const isOvertaken = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'http.version_mismatch';

/**
 * The initial values of a form: the data from when it was opened, until it is saved or the user asks for what others
 * have saved. With `round` as the key of the form, a background refetch never discards typed values.
 */
export function useFilling<T>(read: T) {
  const [filling, setFilling] = useState({ round: 0, filledWith: read });
  const refill = (filledWith: T) => setFilling(({ round }) => ({ round: round + 1, filledWith }));
  const goOn = (filledWith: T) => setFilling(({ round }) => ({ round, filledWith })); // from what it saved
  return { ...filling, refill, goOn };
}

type Ways<T, Saved> = {
  read: () => Promise<Versioned<T>>;
  fieldsOf: (data: T) => object; // the fields of the form
  save: (ifMatch: string) => Promise<Saved>;
};
const mostTries = 3;

/**
 * Saves a form unless somebody else has changed its fields meanwhile. Every write increments the version, also a pause
 * or the circuit breaker's. Those leave the fields of the form alone and are no conflict.
 */
export async function saveOver<T, Saved>(
  seen: Versioned<T>,
  { read, fieldsOf, save }: Ways<T, Saved>,
): Promise<Saved> {
  const filledWith = JSON.stringify(fieldsOf(seen.data));
  for (let { etag = '*' } = seen, tries = 1; ; tries++)
    try {
      return await save(etag);
    } catch (error) {
      if (!isOvertaken(error) || tries === mostTries) throw error;
      const now = await read();
      if (JSON.stringify(fieldsOf(now.data)) !== filledWith) throw error;
      etag = now.etag ?? '*';
    }
}
