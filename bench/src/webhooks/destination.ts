import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Arrival = [mark: string, atMs: number];
export type Command = 'count' | 'take' | 'heal';
type Report = { received: number; arrivals: Arrival[] };

export type Destination = {
  url: string;
  others: readonly string[]; // separate origins: a sender limits its connections to each
  received(): Promise<number>; // requests so far
  takeArrivals(): Promise<Map<string, number>>; // marks of events, and when each request was complete
  heal(): Promise<void>; // failing paths succeed from now on
  close(): Promise<void>;
};

// The same for all processes of the machine.
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

// A receiving server, in its own process.
export async function startDestination(others: number): Promise<Destination> {
  const child = fork(
    fileURLToPath(new URL('./destination-script.ts', import.meta.url)),
    [String(1 + others)],
    {
      execArgv: ['--import', 'tsx'],
    },
  );
  const [[url, ...rest]] = (await once(child, 'message')) as [string[]];
  const ask = async (command: Command): Promise<Report> => {
    child.send(command);
    const [report] = (await once(child, 'message')) as [Report];
    return report;
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
