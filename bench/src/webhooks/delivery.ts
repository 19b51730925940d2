import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@stak/client';
import { type Measure, type Round, summarize, sumUp } from '../harness.ts';
import { createCaller } from '../server/caller.ts';
import { keepPace, type Pace } from '../server/pace.ts';
import type { Destination } from './destination.ts';
import { connect, createSource, eventOf, ingestPath } from './event.ts';
import { measureArrival } from './latency.ts';

export type DeliverySettings = {
  rounds: number;
  pace: Pace;
  warmUpMs: number;
  slowSources: number;
  slowConnections: number; // of each
  slowEveryMs: number;
  slowPace: Pace;
};
export type Delivery = {
  perSecond: number;
  direct: Measure;
  delivered: Measure;
  slowDestinations: number;
  alone: Measure; // to a fast destination, without other load
  besideSlow: Measure; // and with many slow destinations
};

export async function measureDelivery(
  url: string,
  client: Client,
  destination: Destination,
  settings: DeliverySettings,
): Promise<Delivery> {
  const { pace, slowPace, slowSources, slowConnections } = settings;
  const source = await createSource(client, 'fast');
  await connect(client, source, `${destination.url}/fast`, { maxConcurrency: 100 });
  const deliver = (at: Pace) =>
    measureArrival(url, mark => eventOf(ingestPath(source), mark), destination, at);
  const post = (at: Pace) => measureArrival(destination.url, mark => eventOf('/fast', mark), destination, at);

  // The ways alternate, as in all benches.
  const rounds = async (ways: readonly ((at: Pace) => Promise<number[]>)[], at: Pace): Promise<Measure[]> => {
    const rounds = ways.map((): Round[] => []);
    for (const way of ways) await way({ ...at, durationMs: settings.warmUpMs });
    for (let i = 0; i < settings.rounds; i++)
      for (const [w, way] of ways.entries()) rounds[w]!.push(summarize(await way(at), at.durationMs));
    return rounds.map(sumUp);
  };
  const [direct, delivered] = await rounds([post, deliver], pace);
  const [alone] = await rounds([deliver], slowPace);

  const slow: string[] = [];
  for (let i = 0; i < slowSources; i++) slow.push(await createSource(client, `slow ${i}`));
  for (const [s, id] of slow.entries())
    for (let i = 0; i < slowConnections; i++) await connect(client, id, `${destination.others[s]}/slow/${i}`);
  const stop = await occupy(url, slow, settings.slowEveryMs);
  const [besideSlow] = await rounds([deliver], slowPace).finally(stop);
  return {
    perSecond: pace.perSecond,
    direct: direct!,
    delivered: delivered!,
    slowDestinations: slowSources * slowConnections,
    alone: alone!,
    besideSlow: besideSlow!,
  };
}

// Keeps nearly every slow destination busy: each gets an event as soon as it should have responded to the last one. The
// sources alternate, so that the load is steady and small.
async function occupy(
  url: string,
  sources: readonly string[],
  everyMs: number,
): Promise<() => Promise<void>> {
  const caller = createCaller(url);
  const stopping = new AbortController();
  const run = async () => {
    while (!stopping.signal.aborted)
      await keepPace({ perSecond: (sources.length * 1000) / everyMs, durationMs: everyMs }, async turn => {
        if (!stopping.signal.aborted) await caller.call(eventOf(ingestPath(sources[turn]!)), 200);
      });
  };
  const running = run();
  running.catch(() => {}); // reported by `stop`
  await Promise.race([sleep(everyMs), running]);
  return async () => {
    stopping.abort();
    await running.finally(caller.close);
  };
}
