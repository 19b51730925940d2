import { useState } from 'react';

/**
 * Counts the forms that show what a query read: another one for each version that somebody saved or asked to see. What
 * is typed is never swept away by itself.
 */
export function useRounds(query: { refetch: () => Promise<unknown> }) {
  const [round, setRound] = useState(0);
  const showAgain = async () => {
    await query.refetch();
    setRound(before => before + 1);
  };
  return { round, showAgain };
}
