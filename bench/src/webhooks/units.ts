import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@stak/client';
import { createCaller } from '../server/caller.ts';
import { readSpent, spentBetween } from '../server/capacity.ts';
import type { Destination } from './destination.ts';
import { connect, createSource, eventOf, ingestPath } from './event.ts';

// Write units: of an event without deliveries, of one with one delivery, and of a successful attempt.
export type Units = { event: number; eventAndDelivery: number; attempt: number };

const settleMs = 1500; // counters are written once a second

export async function measureUnits(
  url: string,
  client: Client,
  destination: Destination,
  events: number,
): Promise<Units> {
  const alone = await createSource(client, 'units, alone');
  const connected = await createSource(client, 'units, connected');
  await connect(client, connected, `${destination.url}/fast`);
  const caller = createCaller(url);
  const spentOn = async (sourceId: string) => {
    const before = await readSpent(url);
    for (let i = 0; i < events; i++) await caller.call(eventOf(ingestPath(sourceId)), 200);
    await sleep(settleMs);
    const spent = spentBetween(before, await readSpent(url));
    return (pattern: string) =>
      spent.reduce((sum, entry) => sum + (entry.pattern === pattern ? entry.writeUnits : 0), 0) / events;
  };
  try {
    const ofAlone = await spentOn(alone);
    const ofConnected = await spentOn(connected);
    return {
      event: ofAlone('ingest'),
      eventAndDelivery: ofConnected('ingest'),
      attempt: ofConnected('claim delivery') + ofConnected('result of a delivery'),
    };
  } finally {
    caller.close();
  }
}
