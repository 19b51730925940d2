import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState } from 'react';
import { client } from '../../queries/api.ts';
import { useMay } from '../../queries/permissions.ts';
import { todayIn } from '../../text/days.ts';

const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
const profileKey = ['task-profile'];

// For users who never chose a time zone, the browser's is used. The server has to know it too: it decides what is
// overdue, and when nine in the morning is.
async function readZone(mayChange: boolean): Promise<string> {
  const { data } = await client.tasks.me();
  if (!mayChange || data.version > 0 || data.time_zone === browserZone) return data.time_zone;
  return client.tasks.updateMe({ body: { time_zone: browserZone } }).then(
    answer => answer.data.time_zone,
    () => data.time_zone, // the server does not know this zone
  );
}

export type Zone = {
  zone: string;
  browserZone: string;
  moveTo: ((zone: string) => Promise<void>) | undefined; // undefined if the user may not change it
};

export function useZone(): Zone {
  const queries = useQueryClient();
  const mayChange = useMay()('tasks.updateMe');
  const { data: zone = browserZone } = useQuery({
    queryKey: profileKey,
    queryFn: () => readZone(mayChange),
    staleTime: 60_000,
  });
  const moveTo = async (time_zone: string) => {
    await client.tasks.updateMe({ body: { time_zone } });
    await queries.invalidateQueries({ queryKey: profileKey });
    await queries.invalidateQueries({ queryKey: ['tasks'] });
  };
  return { zone, browserZone, moveTo: mayChange ? moveTo : undefined };
}

// The current day of the user, updated at midnight while the page is open.
export function useTodayIn(zone: string): string {
  const [today, setToday] = useState(() => todayIn(zone));
  useEffect(() => {
    setToday(todayIn(zone));
    const timer = setInterval(() => setToday(todayIn(zone)), 30_000);
    return () => clearInterval(timer);
  }, [zone]);
  return today;
}

export const Today = createContext(todayIn(browserZone));
export const useToday = (): string => useContext(Today);
