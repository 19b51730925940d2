import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { eventually, type Fixture, openTasks, startConsumers } from './tasks-fixture.ts';

let f: Fixture;
beforeEach(async () => {
  f = await openTasks();
});
afterEach(() => f.close());

const day = 24 * 60 * 60 * 1000;
type Page = { changed: WireTask[]; deleted: { task_id: string }[]; token: string; has_more: boolean };
const changes = (since?: string, limit = 100) =>
  f.ok<Page>('GET', `/v1/tasks/changes?limit=${limit}${since === undefined ? '' : `&since=${since}`}`);

describe('changes since a token', () => {
  it('begin with everything, page by page, and miss nothing that is written meanwhile', async () => {
    const made: WireTask[] = [];
    for (const title of ['a', 'b', 'c', 'd', 'e']) made.push(await f.create({ title }));
    const first = await changes(undefined, 2);
    expect([first.changed.length, first.has_more]).toEqual([2, true]);
    await f.ok('PATCH', `/v1/tasks/${made[0]!.task_id}`, { send: { title: 'A' } });
    await f.ok('DELETE', `/v1/tasks/${made[4]!.task_id}`);
    const replica = new Map(first.changed.map(one => [one.task_id, one.title]));
    let { token } = first;
    for (let more = true; more; ) {
      const page = await changes(token, 2);
      for (const one of page.changed) replica.set(one.task_id, one.title);
      for (const one of page.deleted) replica.delete(one.task_id);
      token = page.token;
      more = page.has_more || page.changed.length > 0;
    }
    expect([...replica.values()].sort()).toEqual(['A', 'b', 'c', 'd']);
  });

  it('list each task once, and deleted ones as deleted', async () => {
    const { token } = await changes();
    const task = await f.create({ title: 'a' });
    for (const title of ['b', 'c']) await f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send: { title } });
    const gone = await f.create({ title: 'x' });
    await f.ok('DELETE', `/v1/tasks/${gone.task_id}`);
    const page = await changes(token);
    expect(page.changed).toMatchObject([{ title: 'c', version: 3 }]);
    expect(page.deleted).toEqual([{ task_id: gone.task_id }]);
    expect(await changes(page.token)).toMatchObject({ changed: [], deleted: [], has_more: false });
    await f.ok('POST', `/v1/tasks/trash/${gone.task_id}/restore`);
    expect((await changes(page.token)).changed).toMatchObject([{ title: 'x' }]);
  });

  it('are 410 when the token is too old, wherever the gap is', async () => {
    await f.create({ title: 'a' });
    const { token } = await changes();
    await f.create({ title: 'b' });
    await f.clock.advance(15 * day);
    await f.create({ title: 'c' });
    expect((await changes(token)).changed).toHaveLength(2);
    await f.clock.advance(15 * day);
    const old = await f.call('GET', `/v1/tasks/changes?since=${token}`);
    expect([old.status, ((await old.json()) as { code: string }).code]).toEqual([410, 'tasks.token_expired']);
    const { token: fresh, changed } = await changes();
    expect(changed).toHaveLength(3);
    await f.clock.advance(60 * day);
    expect(await changes(fresh)).toMatchObject({ changed: [], has_more: false });
    // Nothing is left of what came after it.
    expect((await f.call('GET', `/v1/tasks/changes?since=${token}`)).status).toBe(410);
  });

  it('of an erased user are another history', async () => {
    await f.create({ title: 'a' });
    const { token } = await changes();
    while ((await f.tasks.eraser.eraseAccount('usr_ann')) === 'more');
    await f.create({ title: 'b' });
    expect((await f.call('GET', `/v1/tasks/changes?since=${token}`)).status).toBe(410);
  });
});

type Event = { id: string; event: string; data: { task_id: string; title?: string } };

// Reads events until there are so many, as EventSource would.
async function listen(lastId?: string) {
  const headers = new Headers(lastId === undefined ? [] : [['Last-Event-ID', lastId]]);
  const response = await f.call('GET', '/v1/tasks/events', { headers });
  const reader = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
  let text = '';
  const events: Event[] = [];
  return {
    async next(count: number): Promise<Event[]> {
      while (events.length < count) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split('\n\n');
        text = parts.pop()!;
        for (const part of parts) {
          const fields = Object.fromEntries(part.split('\n').map(line => line.split(/: ?(.*)/s).slice(0, 2)));
          if (fields.event)
            events.push({ id: fields.id, event: fields.event, data: JSON.parse(fields.data) });
        }
      }
      return events.splice(0, count);
    },
    close: () => reader.cancel(),
  };
}

describe('events', () => {
  it('are sent as they happen, and resume after the last one that was seen', async () => {
    const stop = startConsumers(f);
    await f.create({ title: 'before' });
    const stream = await listen();
    expect((await stream.next(1))[0]!.event).toBe('open');
    const made = await Promise.all(['a', 'b', 'c'].map(title => f.create({ title })));
    const seen = await stream.next(3);
    expect(seen.map(one => one.event)).toEqual(['changed', 'changed', 'changed']);
    expect(seen.map(one => one.data.title).sort()).toEqual(['a', 'b', 'c']);
    await stream.close();

    const items = made.map(({ task_id }) => ({ op: 'delete', task_id }));
    await f.ok('POST', '/v1/tasks/bulk', { send: { items } });
    const second = await listen(seen[2]!.id);
    const [first] = await second.next(1);
    await second.close();
    const third = await listen(first!.id); // in the middle of one write
    const rest = await third.next(2);
    expect([first!, ...rest].map(one => [one.event, one.data.task_id])).toEqual(
      made.map(one => ['deleted', one.task_id]),
    );
    await f.create({ title: 'after' });
    expect((await third.next(1))[0]!.data.title).toBe('after');
    await third.close();
    await stop();
  });

  it('continue for a client that was disconnected before the first of them', async () => {
    const stream = await listen();
    const [open] = await stream.next(1);
    await stream.close();
    await f.create({ title: 'meanwhile' });
    const again = await listen(open!.id);
    expect((await again.next(1))[0]).toMatchObject({ event: 'changed', data: { title: 'meanwhile' } });
    await again.close();
  });

  it('make a client that was away too long read everything again', async () => {
    await f.create({ title: 'a' });
    const stream = await listen('none.0-0');
    const [first] = await stream.next(1);
    await stream.close();
    await f.clock.advance(31 * day);
    await f.create({ title: 'b' });
    for (const id of [first!.id.replace(/\.\d+/, '.0'), 'nonsense', 'other.7-0']) {
      const late = await listen(id);
      expect((await late.next(1))[0]!.event).toBe('resync');
      await late.close();
    }
  });

  it('leave nothing behind when their clients disconnect', async () => {
    const stream = await listen();
    const before = f.clock.sleepers();
    await stream.close();
    await eventually(() => f.clock.sleepers() < before);
  });
});
