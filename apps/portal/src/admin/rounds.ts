import { useState } from 'react';

/**
 * The key of a form: it changes only when the form was saved or the user asks for the saved version, so that a
 * background refetch never discards typed values.
 */
export function useRounds(query: { refetch: () => Promise<unknown> }) {
  const [round, setRound] = useState(0);
  const showAgain = async () => {
    await query.refetch();
    setRound(before => before + 1);
  };
  return { round, showAgain };
}
