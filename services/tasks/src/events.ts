import type { EventSink } from '@stak/http';
import { describeTasks, inHistory, parseToken, readEntries, settledTally, tokenText } from './changes.ts';
import type { Writing } from './commit.ts';
import { tasksErrors } from './errors.ts';
import type { Hub } from './hub.ts';
import * as limits from './limits.ts';

export type Following = Writing & { hub: Hub };

// How far a client is: it has every write up to a number, and so many tasks of the next one. Every task is an event of
// its own, and the id of the event is the place behind it.
type Place = { epoch: string; seq: number; index: number };

const idOf = ({ epoch, seq, index }: Place): string => `${tokenText({ epoch, seq })}-${index}`;

function placeOf(id: string): Place | undefined {
  const [, text = '', index = ''] = /^(.+)-(\d{1,3})$/.exec(id) ?? [];
  const token = parseToken(text);
  if (!token || token.cursor !== undefined) return undefined;
  return { epoch: token.epoch, seq: token.seq, index: Number(index) };
}

// What came after the id, then what comes. A client that was away for too long is told to read everything again.
export async function followChanges(
  deps: Following,
  user_id: string,
  afterId: string | undefined,
  sink: EventSink,
): Promise<void> {
  const leave = deps.hub.enter();
  try {
    await follow(deps, user_id, afterId, sink);
  } finally {
    leave();
  }
}

async function follow(
  deps: Following,
  user_id: string,
  afterId: string | undefined,
  sink: EventSink,
): Promise<void> {
  let place = afterId === undefined ? await sendOpen(deps, user_id, sink) : placeOf(afterId);
  while (!sink.signal.aborted) {
    const over = new AbortController();
    const signal = AbortSignal.any([sink.signal, over.signal]);
    const woken = deps.hub.next(user_id, signal);
    try {
      place = place ? await sendSince(deps, user_id, place, sink) : await sendResync(deps, user_id, sink);
      if (!place) continue;
      // No consumer of the table's stream may be running in this process, so it also looks by itself.
      await Promise.race([woken, deps.clock.sleep(limits.eventPollMs, signal).catch(() => {})]);
    } finally {
      over.abort();
    }
  }
}

async function presentPlace(deps: Following, user_id: string): Promise<Place> {
  const { epoch, seq } = await settledTally(deps, user_id);
  return { epoch, seq, index: 0 };
}

// What is read after this and what is told from here on is everything: nothing falls in between. And whoever is cut
// off before the first change knows where to go on.
async function sendOpen(deps: Following, user_id: string, sink: EventSink): Promise<Place> {
  const place = await presentPlace(deps, user_id);
  sink.send({ id: idOf(place), event: 'open', data: {} });
  return place;
}

async function sendResync(deps: Following, user_id: string, sink: EventSink): Promise<Place> {
  const place = await presentPlace(deps, user_id);
  sink.send({ id: idOf(place), event: 'resync', data: { reason: 'too_old' } });
  return place;
}

// Undefined if the place is no longer in the history.
async function sendSince(
  deps: Following,
  user_id: string,
  from: Place,
  sink: EventSink,
): Promise<Place | undefined> {
  const tally = await settledTally(deps, user_id);
  let place = inHistory(from, tally);
  if (place.epoch !== tally.epoch || place.seq > tally.seq) return undefined;
  while (place.seq < tally.seq && !sink.signal.aborted) {
    const entries = await readEntries(deps.store, user_id, place.seq, tally.seq).catch(unlessExpired);
    if (!entries) return undefined;
    for (const { seq, task_ids } of entries) {
      const { changed } = await describeTasks(deps.store, user_id, task_ids);
      const tasks = new Map(changed.map(task => [task.task_id, task]));
      for (let i = place.index; i < task_ids.length; i++) {
        await sink.ready();
        const task_id = task_ids[i]!;
        const isLast = i === task_ids.length - 1;
        place = { ...place, seq: isLast ? seq : seq - 1, index: isLast ? 0 : i + 1 };
        const task = tasks.get(task_id);
        sink.send({ id: idOf(place), event: task ? 'changed' : 'deleted', data: task ?? { task_id } });
      }
      place = { ...place, seq, index: 0 };
    }
  }
  return place;
}

function unlessExpired(error: unknown): undefined {
  if (tasksErrors.includes(error) && error.code === 'tasks.token_expired') return undefined;
  throw error;
}
