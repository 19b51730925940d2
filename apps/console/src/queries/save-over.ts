import { StakError } from '@stak/client';
import { useState } from 'react';

/** What was read, and the version that a change of it is for. */
export type Versioned<T> = { data: T; etag: string | undefined };

export const versioned = <T>({ data, etag }: Versioned<T>): Versioned<T> => ({ data, etag });

export const isOvertaken = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'http.version_mismatch';

/**
 * What a form is filled with: what was read when it was opened, until somebody saves it or asks for what others saved.
 * With `round` as its key, nothing that is typed is swept away by a list that is read again.
 */
export function useFilling<T>(read: T) {
  const [filling, setFilling] = useState({ round: 0, filledWith: read });
  const refill = (filledWith: T) => setFilling(({ round }) => ({ round: round + 1, filledWith }));
  const goOn = (filledWith: T) => setFilling(({ round }) => ({ round, filledWith })); // from what it saved
  return { ...filling, refill, goOn };
}

type Ways<T, Saved> = {
  read: () => Promise<Versioned<T>>;
  fieldsOf: (data: T) => object; // those that the form shows
  save: (ifMatch: string) => Promise<Saved>;
};
const mostTries = 3;

/**
 * Saves a form over what it was filled with, unless somebody else has changed that meanwhile. Every write counts as a
 * version, also a pause or one of the circuit breaker: those left the fields of the form alone, and are no conflict.
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
