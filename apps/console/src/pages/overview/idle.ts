import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';

// How often a page that nobody touches reads everything again. A caller's limit is for work, and tabs stay open all day.
// What arrives is shown earlier, by the pulse, and everything is read when somebody comes back to the page.
export const idleMs = 60_000;
const pulseMs = 10_000;
const attemptMs = 3_000; // until most events have been delivered

const told = [['webhook-analytics'], ['first-steps'], ['usage']];

/** One small request says whether events have arrived. What is counted from them is read again only then. */
export function usePulse(): void {
  const queries = useQueryClient();
  const { data } = useRows(['sources'], () => client.webhooks.listSources(), { refetchInterval: pulseMs });
  const counts = data?.map(one => `${one.sourceId} ${one.eventCount}`).join();
  const before = useRef(counts);
  useEffect(() => {
    const isFirst = before.current === undefined;
    before.current = counts;
    if (isFirst) return;
    const readAgain = () => {
      for (const queryKey of told) void queries.invalidateQueries({ queryKey });
    };
    readAgain();
    const later = setTimeout(readAgain, attemptMs);
    return () => clearTimeout(later);
  }, [counts, queries]);
}
