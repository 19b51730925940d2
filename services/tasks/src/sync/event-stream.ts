import type { EventSink } from '@stak/http';
import type { Hub } from '@stak/kit';
import type { CommitDeps } from '../edit/commit.ts';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { currentTally, describeTasks, inHistory, parseToken, readEntries, tokenText } from './changes.ts';

export type EventDeps = CommitDeps & { hub: Hub };

// How far a client has read: all writes up to a number, and some tasks of the next one. Each task is an event, whose id
// is the position after it.
type Position = { epoch: string; seq: number; index: number };

const idOf = ({ epoch, seq, index }: Position): string => `${tokenText({ epoch, seq })}-${index}`;

function positionIn(id: string): Position | undefined {
  const [, text = '', index = ''] = /^(.+)-(\d{1,3})$/.exec(id) ?? [];
  const token = parseToken(text);
  if (!token || token.cursor !== undefined) return undefined;
  return { epoch: token.epoch, seq: token.seq, index: Number(index) };
}

// Sends what came after the id, then each change as it happens. A client that was away too long gets `resync`.
export async function followChanges(
  deps: EventDeps,
  user_id: string,
  afterId: string | undefined,
  sink: EventSink,
): Promise<void> {
  const subscriber = deps.hub.subscribe([user_id]);
  try {
    let position = afterId === undefined ? await sendOpen(deps, user_id, sink) : positionIn(afterId);
    while (!sink.signal.aborted) {
      position = position
        ? await sendSince(deps, user_id, position, sink)
        : await sendResync(deps, user_id, sink);
      // This process may run no consumer of the table's stream, so it also looks from time to time.
      if (position) await subscriber.wait(limits.eventPollMs, sink.signal);
    }
  } finally {
    subscriber.close();
  }
}

async function currentPosition(deps: EventDeps, user_id: string): Promise<Position> {
  const { epoch, seq } = await currentTally(deps, user_id);
  return { epoch, seq, index: 0 };
}

// Everything that the client reads now, or gets from here on, is complete. A client that is cut off before the first
// change knows where to continue.
async function sendOpen(deps: EventDeps, user_id: string, sink: EventSink): Promise<Position> {
  const position = await currentPosition(deps, user_id);
  sink.send({ id: idOf(position), event: 'open', data: {} });
  return position;
}

async function sendResync(deps: EventDeps, user_id: string, sink: EventSink): Promise<Position> {
  const position = await currentPosition(deps, user_id);
  sink.send({ id: idOf(position), event: 'resync', data: { reason: 'too_old' } });
  return position;
}

// Undefined if the position is no longer in the history.
async function sendSince(
  deps: EventDeps,
  user_id: string,
  from: Position,
  sink: EventSink,
): Promise<Position | undefined> {
  const tally = await currentTally(deps, user_id);
  let position = inHistory(from, tally);
  if (position.epoch !== tally.epoch || position.seq > tally.seq) return undefined;
  while (position.seq < tally.seq && !sink.signal.aborted) {
    const entries = await readEntries(deps.store, user_id, position.seq, tally.seq).catch(unlessExpired);
    if (!entries) return undefined;
    for (const { seq, task_ids } of entries) {
      const { changed } = await describeTasks(deps.store, user_id, task_ids);
      const tasks = new Map(changed.map(task => [task.task_id, task]));
      for (let i = position.index; i < task_ids.length; i++) {
        await sink.ready();
        const task_id = task_ids[i]!;
        const isLast = i === task_ids.length - 1;
        position = { ...position, seq: isLast ? seq : seq - 1, index: isLast ? 0 : i + 1 };
        const task = tasks.get(task_id);
        sink.send({ id: idOf(position), event: task ? 'changed' : 'deleted', data: task ?? { task_id } });
      }
      position = { ...position, seq, index: 0 };
    }
  }
  return position;
}

function unlessExpired(error: unknown): undefined {
  if (tasksErrors.includes(error) && error.code === 'tasks.token_expired') return undefined;
  throw error;
}
