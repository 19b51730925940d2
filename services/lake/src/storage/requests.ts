import { createHash } from 'node:crypto';
import { type Clock, createRecentMap } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Owner } from '../tables.ts';
import type { ObjectStore } from './objects.ts';

// Requests of readers to the maintenance, which may run in another thread, process or machine: one object per request,
// deleted when it is done. So a request survives a restart of either side.

export type Request =
  | { kind: 'erase'; owner: Owner }
  | { kind: 'erase texts'; owners: readonly Owner[] }
  | { kind: 'find lost files' };

const folder = 'requests/';

function keyOf(request: Request): string {
  const name = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return `${folder}${name}.json`;
}

// `wake` notifies a maintenance worker of this server. Others find the request at intervals.
export function createRequests({
  objects,
  clock,
  wake,
}: {
  objects: ObjectStore;
  clock: Clock;
  wake(): void;
}) {
  // Requests whose caller stopped waiting, and is expected to repeat them.
  const askedAt = createRecentMap<string, number>(limits.requestsRemembered);

  async function ask(request: Request): Promise<void> {
    await objects.putIfAbsent(keyOf(request), Buffer.from(JSON.stringify(request)));
    wake();
  }

  // Whether it was done within a moment. If not, call it again: the work continues in the meantime, and is not started
  // again if it is done by then. A much later call starts new work.
  async function askAndWait(request: Request): Promise<boolean> {
    const key = keyOf(request);
    const lastMs = askedAt.get(key) ?? Number.NEGATIVE_INFINITY;
    if (clock.now() - lastMs < limits.requestAgainMs) wake();
    else await ask(request);
    askedAt.set(key, clock.now());
    const untilMs = clock.now() + limits.requestWaitMs;
    while ((await objects.get(key)) !== undefined) {
      if (clock.now() >= untilMs) return false;
      await clock.sleep(limits.requestPollMs);
    }
    askedAt.delete(key);
    return true;
  }

  return { ask, askAndWait };
}

export type Requests = ReturnType<typeof createRequests>;

export async function listRequests(objects: ObjectStore): Promise<{ key: string; request: Request }[]> {
  const found: { key: string; request: Request }[] = [];
  for await (const { key } of objects.list(folder)) {
    const body = await objects.get(key);
    if (body) found.push({ key, request: JSON.parse(Buffer.from(body).toString('utf8')) as Request });
  }
  return found;
}
