import { setTimeout as sleep } from 'node:timers/promises';
import { startContestant } from '../contestant-process.ts';
import { type Measure, measureInterleaved, type Plan } from '../harness.ts';
import { median } from '../statistics.ts';
import type { LoadSettings, Operation } from './load.ts';
import type { ServerProcess } from './process.ts';

// `cpuUs` is the server's processor time for one request, in all its threads.
export type ServerMeasure = Measure & { cpuUs: number };

export type Rounds<Name extends string> = {
  server: ServerProcess;
  operations: Readonly<Record<Name, Operation>>;
  names: readonly Name[];
  inFlight: number;
  plan: Plan;
  settleMs?: number; // after a round, for work that the server does later: its processor time counts as well
};

// One round of each operation, alternating, sent by a process that does nothing else.
export async function measureServer<Name extends string>(
  rounds: Rounds<Name>,
): Promise<Record<Name, ServerMeasure>> {
  const { server, operations, names, inFlight, plan, settleMs = 0 } = rounds;
  const settings: LoadSettings = { url: server.url, operations };
  const load = await startContestant('load', import.meta.resolve('./load.ts'), settings);
  const cpuUs = new Map<Name, number[]>(names.map(name => [name, []]));
  const runners = names.map(name => ({
    name,
    async run({ durationMs }: { durationMs: number }) {
      const before = await server.cpuUs();
      const round = await load.run({ operation: name, inFlight, durationMs });
      await sleep(settleMs);
      const spentUs = (await server.cpuUs()) - before;
      cpuUs.get(name)!.push(spentUs / round.calls); // a round lasts until its last call is answered
      return round;
    },
  }));
  try {
    const measures = await measureInterleaved(runners, { operation: '', inFlight }, plan);
    // The first was the warm-up.
    const withCpu = names.map(name => [
      name,
      { ...measures[name]!, cpuUs: median(cpuUs.get(name)!.slice(1)) },
    ]);
    return Object.fromEntries(withCpu) as Record<Name, ServerMeasure>;
  } finally {
    await load.close();
  }
}
