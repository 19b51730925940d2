import { useState } from 'react';
import { client } from '../../queries/api.ts';
import { useLive } from '../../queries/live.ts';
import { useReachable } from '../../shell/reachability.tsx';
import type { Change } from './queries.ts';

const kept = 200; // enough to scroll back through

export type NumberedChange = Change & { number: number };
export type Live = {
  isLive: boolean;
  hasGap: boolean;
  count: number; // of all changes since the page was opened
  changes: readonly NumberedChange[]; // the newest first
};

const nothing: Live = { isLive: false, hasGap: false, count: 0, changes: [] };

// Follows the stream of a table while its page is open.
export function useChanges(table: string, hasStream: boolean): [Live, () => void] {
  const [live, setLive] = useState(nothing);
  useLive(
    `changes of ${table}`,
    options => (hasStream ? client.tables.changes({ table }, options) : noEvents()),
    ({ event, data }) => {
      if (event === 'change') setLive(before => withChange(before, data as Change));
      else setLive(before => ({ ...before, isLive: true, hasGap: before.hasGap || event === 'gap' }));
    },
  );
  const isReachable = useReachable();
  return [
    { ...live, isLive: live.isLive && isReachable },
    () => setLive(before => ({ ...before, hasGap: false, changes: [] })),
  ];
}

async function* noEvents(): AsyncGenerator<never, void, undefined> {}

const withChange = (before: Live, change: Change): Live => ({
  ...before,
  count: before.count + 1,
  changes: [{ ...change, number: before.count + 1 }, ...before.changes].slice(0, kept),
});
