import type { Client } from '@stak/client';
import { createIds, systemClock } from '@stak/kit';
import { UsageError } from '../../config/errors.ts';
import { readText } from '../../config/flags.ts';
import { connect } from '../connection.ts';
import { follow } from '../follow.ts';
import { timeText } from '../print.ts';
import type { HookFlags } from './hooks-actions.ts';
import { forward, type LiveEvent } from './hooks-forward.ts';
import { findSource } from './hooks-sources.ts';

// Far more than the server sends again after a lost connection, which is the last few seconds.
const rememberedEvents = 10_000;

// Forwards the events of a source to a server on this machine, exactly as they arrive. After a lost connection, the
// client continues after the last event.
export async function listen(flags: HookFlags): Promise<void> {
  const target = readTarget(flags.forward);
  const { client } = await connect(flags);
  const { sourceId, name } = await findSource(client, flags.source);
  const { sinceMs, newestId } = await readStart(client, sourceId);
  // A connection that is lost before the first event must also know where to continue.
  const lastEventId = createIds({ clock: { ...systemClock, now: () => sinceMs } }).next('evt');
  const isNew = createMemory(rememberedEvents);
  if (newestId !== undefined) isNew(newestId);
  console.error(`Listening to ${name}: its events go to ${target.href}; stop with Ctrl-C`);
  await follow(
    signal => client.webhooks.tailEvents({ sourceId, payload: 'true' }, { signal, lastEventId }),
    async ({ data }) => {
      const event = data as LiveEvent;
      if (event.receivedAt >= sinceMs && isNew(event.eventId)) await handOn(target, event);
    },
  );
}

async function handOn(target: URL, event: LiveEvent): Promise<void> {
  const { receivedAt, method, eventId, status } = event;
  // Its sender is not verified, and connections do not get it either.
  const outcome = status === 'rejected' ? 'rejected, not forwarded' : await forward(target, event);
  console.log(`${timeText(receivedAt)}  ${eventId}  ${method}  ${outcome}`);
}

function readTarget(given: unknown): URL {
  const text = readText('--forward', given);
  const target = URL.canParse(text) ? new URL(text) : undefined;
  if (target?.protocol === 'http:' || target?.protocol === 'https:') return target;
  throw new UsageError(`--forward needs an address like http://localhost:3000/webhooks, not ${text}`);
}

// By the server's clock, since this machine's may be wrong. It has whole seconds, and events received within this
// second came before us.
async function readStart(client: Client, sourceId: string): Promise<{ sinceMs: number; newestId?: string }> {
  const { data, headers } = await client.webhooks.listEvents({ sourceId, limit: 1 });
  const newest = data.data[0];
  const serverMs = Date.parse(headers.get('date') ?? '') || Date.now();
  return { sinceMs: Math.max(serverMs, newest?.receivedAt ?? 0), newestId: newest?.eventId };
}

// Returns whether an id is new, and forgets the oldest ones.
function createMemory(most: number): (id: string) => boolean {
  const seen = new Set<string>();
  return id => {
    if (seen.has(id)) return false;
    seen.add(id);
    if (seen.size > most) seen.delete(seen.values().next().value!);
    return true;
  };
}
