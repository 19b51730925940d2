import { setImmediate } from 'node:timers/promises';
import { createEngine, type Engine } from '@stak/engine';
import type { EventSink, ServerEvent } from '@stak/http';
import { createIds, createLogger, manualClock } from '@stak/kit';
import { engineSource } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Changes, createChanges } from './changes.ts';
import * as limits from './limits.ts';

const clock = manualClock(Date.parse('2026-03-01T12:00:00Z'));
let engine: Engine;
let changes: Changes;
let opened: number; // readers of the stream

beforeEach(async () => {
  engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0 });
  await createTables(engine, [todoAppData]);
  opened = 0;
  const source = engineSource(engine);
  changes = createChanges({
    source: {
      ...source,
      getShardIterator: input => {
        opened += 1;
        return source.getShardIterator(input);
      },
    },
    clock,
    ids: createIds({ clock }),
    log: createLogger({ level: 'silent' }),
  });
});
afterEach(async () => {
  await changes.close();
  await engine.close();
});

const calendarFeed = todoAppData.entities.find(({ name }) => name === 'calendar feed')!;
const write = (feed_hash: string) =>
  createStore({ client: engine.client, clock }).put(calendarFeed, {
    feed_hash,
    user_id: 'usr_1',
    created_at: 1,
  });

// Somebody who looks, and reads only while `isReading`.
function look(afterId?: string) {
  const leaving = new AbortController();
  const sent: ServerEvent[] = [];
  const viewer = { sent, isReading: true, ended: Promise.resolve(), leave: () => leaving.abort() };
  const sink: EventSink = {
    send: event => void sent.push(event),
    ready: async () => {
      while (!viewer.isReading && !leaving.signal.aborted) await setImmediate();
    },
    signal: leaving.signal,
  };
  viewer.ended = changes.follow(todoAppData, afterId, sink);
  viewer.ended.catch(() => {}); // when everything is closed
  return viewer;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

const kinds = (viewer: { sent: readonly ServerEvent[] }) => viewer.sent.map(({ event }) => event);

it('reads the stream once for all listeners, and masks secrets', async () => {
  const [ann, bob] = [look(), look()];
  await until(() => ann.sent.length === 1 && bob.sent.length === 1);
  expect(opened).toBe(1);
  await write('0123456789abcdef');
  await until(() => ann.sent.length === 2 && bob.sent.length === 2);
  expect(ann.sent[1]).toEqual(bob.sent[1]);
  expect(ann.sent[1]!.data).toMatchObject({ kind: 'insert', item: { entity: 'calendar feed' } });
  expect(JSON.stringify(ann.sent)).not.toContain('0123456789abcdef');
});

it('resumes after a short disconnection, and reports when it cannot', async () => {
  const ann = look();
  await until(() => ann.sent.length === 1);
  await write('first');
  await until(() => ann.sent.length === 2);
  ann.leave();
  await ann.ended;
  await write('second');
  const again = look(ann.sent[1]!.id);
  await until(() => again.sent.length === 2);
  expect(kinds(again)).toEqual(['ready', 'change']);
  again.leave();
  await again.ended;
  await setImmediate();
  await clock.advance(limits.lingerMs);
  await setImmediate();
  const late = look(again.sent[1]!.id);
  await until(() => late.sent.length === 1);
  expect(kinds(late)).toEqual(['gap']);
  expect(opened).toBe(2);
});

it('reports a gap to a slow reader', async () => {
  const slow = look();
  const quick = look();
  await until(() => slow.sent.length === 1 && quick.sent.length === 1);
  slow.isReading = false;
  const count = limits.changesKept + 5;
  for (let n = 0; n < count; n++) await write(`feed-${n}`);
  await until(() => quick.sent.length === count + 1);
  slow.isReading = true;
  await until(() => slow.sent.at(-1)!.id === quick.sent.at(-1)!.id);
  expect(kinds(slow)).toContain('gap');
});
