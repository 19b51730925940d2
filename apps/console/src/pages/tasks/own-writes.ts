import { createRecentMap } from '@stak/kit/recent-map';

const rememberedWrites = 1000; // far more than can be pending at once
const written = createRecentMap<string, number>(rememberedWrites); // the last version written by this window

export const deleted = Number.POSITIVE_INFINITY; // instead of a version

/** Remembers a change made in this window, so that the event about it is ignored. */
export function rememberWrite(task_id: string, version: number): void {
  const before = written.get(task_id) ?? 0;
  written.set(task_id, before === deleted ? version : Math.max(before, version)); // it may have been restored
}

export function isOwnWrite(task_id: string, version: number): boolean {
  const own = written.get(task_id) ?? -1;
  return version === deleted || own === deleted ? version === own : version <= own;
}
