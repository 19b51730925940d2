import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { paced } from '../../queries/pace.ts';

const pulseMs = 10_000;
const attemptMs = 3_000; // until most events have been delivered

const told = [['webhook-analytics'], ['first-steps'], ['usage'], ['insights'], ['own-inboxes']];

/**
 * The one request that an overview repeats: it says whether events have arrived, and what is counted from them is read
 * again only then. Everything is read again when somebody comes back to the page.
 */
export function usePulse(): void {
  const queries = useQueryClient();
  const { data } = useRows(['sources'], () => client.webhooks.listSources(), {
    refetchInterval: paced(pulseMs),
  });
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
