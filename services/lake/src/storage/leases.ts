import type { Clock, Owners } from '@stak/kit';
import { keyPart, type ObjectStore } from './objects.ts';

// Leases in an object store, which offers only put-if-absent: numbered claims, of which the highest counts. They avoid
// duplicate work. Correctness comes from the numbers of the manifest's commits.

export type Claim = { until: number; isMine(): boolean };

export type LeaseDeps = {
  objects: ObjectStore;
  clock: Clock;
  owners: Owners;
  owner: string;
  leaseMs: number;
};

type Stored = { owner: string; until: number };

export async function takeLease(
  { objects, clock, owners, owner, leaseMs }: LeaseDeps,
  name: string,
): Promise<Claim | undefined> {
  const folder = `leases/${keyPart(name)}/`;
  const keys: string[] = [];
  for await (const { key } of objects.list(folder)) keys.push(key);
  const last = keys.at(-1);
  const body = last === undefined ? undefined : await objects.get(last);
  const held = body && (JSON.parse(Buffer.from(body).toString('utf8')) as Stored);
  const isOthers = held !== undefined && held.owner !== owner && held.until > clock.now();
  if (isOthers && !(await owners.isGone(held.owner))) return undefined;

  const number = last === undefined ? 1 : Number(/(\d+)\.json$/.exec(last)?.[1]) + 1;
  const until = clock.now() + leaseMs;
  const stored: Stored = { owner, until };
  const key = `${folder}${String(number).padStart(12, '0')}.json`;
  if (!(await objects.putIfAbsent(key, Buffer.from(JSON.stringify(stored))))) return undefined;
  // The previous one stays, so that the numbers never start over.
  for (const old of keys.slice(0, -1)) await objects.delete(old);
  return { until, isMine: () => clock.now() < until };
}
