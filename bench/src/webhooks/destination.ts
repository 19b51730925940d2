import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Arrival = [mark: string, atMs: number];
export type Wish = 'count' | 'take' | 'heal';
type Told = { received: number; arrivals: Arrival[] };

export type Destination = {
  url: string;
  others: readonly string[]; // origins of their own: a sender opens only so many connections to one
  received(): Promise<number>; // requests so far
  takeArrivals(): Promise<Map<string, number>>; // marks of events, and when the whole request was there
  heal(): Promise<void>; // what has failed so far succeeds from now on
  close(): Promise<void>;
};

// The same for all processes of the machine.
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

// Somebody else's server, in a process of its own.
export async function startDestination(others: number): Promise<Destination> {
  const child = fork(
    fileURLToPath(new URL('./destination-script.ts', import.meta.url)),
    [String(1 + others)],
    {
      execArgv: ['--import', 'tsx'],
    },
  );
  const [[url, ...rest]] = (await once(child, 'message')) as [string[]];
  const ask = async (wish: Wish): Promise<Told> => {
    child.send(wish);
    const [told] = (await once(child, 'message')) as [Told];
    return told;
  };
  return {
    url: url!,
    others: rest,
    received: async () => (await ask('count')).received,
    takeArrivals: async () => new Map((await ask('take')).arrivals),
    heal: async () => void (await ask('heal')),
    async close() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
