import { useState } from 'react';

/**
 * The key of a form: it changes only when the form was saved or the user asks for the saved version, so that a
 * background refetch never discards typed values. `notice` says what was done, in the form that shows it.
 */
export function useRounds(query: { refetch: () => Promise<unknown> }) {
  const [{ round, notice }, setNow] = useState<{ round: number; notice?: string }>({ round: 0 });
  const showAgain = async (told?: string) => {
    await query.refetch();
    setNow(before => ({ round: before.round + 1, ...(told !== undefined && { notice: told }) }));
  };
  return { round, notice, showAgain };
}
