import { createNotifier, type ManualOwners, manualOwners, systemClock } from '@stak/kit';
import { type Attributes, type DynamoClient, putParams, tableErrors } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireTask } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { createReminderWorker, fireDue, type ReminderDeps } from '../src/schedule/reminders.ts';
import { reminder, remindersDue, remindersOfUser } from '../src/tables.ts';
import { eventually, type Fixture, openTasks, silent, startConsumers } from './tasks-fixture.ts';

type Fired = { key: string; at: number; title: string; user: object };

let f: Fixture;
let fired: Fired[];
let owners: ManualOwners;
let answer: (signal: AbortSignal) => Promise<void>;
beforeEach(async () => {
  fired = [];
  owners = manualOwners();
  answer = async () => {};
  f = await openTasks({ remind: remembering });
});
afterEach(() => f.close());

const remembering: ReminderDeps['remind'] = async ({ key, at, task, user, signal }) => {
  fired.push({ key, at, title: task.title, user });
  await answer(signal);
};

const minute = 60_000;
const hour = 60 * minute;
const never = new AbortController().signal;
const worker = (): ReminderDeps => ({
  store: f.store,
  clock: f.clock,
  log: silent,
  owners: owners.as('here'),
  random: () => 0.5,
  added: createNotifier(f.clock),
  remind: remembering,
});
const start = Date.UTC(2026, 0, 1);
const at = (ms: number) => ({ at: new Date(start + ms).toISOString() });
const kept = async () => (await f.store.query(remindersOfUser, { user_id: 'usr_ann' })).items;
const patch = (task: WireTask, send: object) => f.ok('PATCH', `/v1/tasks/${task.task_id}`, { send });

describe('a reminder', () => {
  it('within the current second fires, and not early', async () => {
    await f.create({ title: 'Tea', reminder: at(700) });
    await f.clock.advance(699);
    await fireDue(worker(), never);
    expect(fired).toEqual([]);
    await f.clock.advance(301);
    await fireDue(worker(), never);
    expect(fired).toMatchObject([{ title: 'Tea' }]);
  });

  it('fires when it is due, once, for the right user', async () => {
    const task = await f.create({ title: 'Tea', reminder: at(hour) });
    await f.create({ title: 'Guest tea', reminder: at(hour) }, { as: 'endUser' });
    expect(await fireDue(worker(), never)).toBe(start + hour);
    await f.clock.advance(hour - 1);
    await fireDue(worker(), never);
    expect(fired).toEqual([]);
    await f.clock.advance(1);
    await fireDue(worker(), never);
    await fireDue(worker(), never);
    expect(fired.toSorted((a, b) => (a.title < b.title ? 1 : -1))).toEqual([
      {
        key: `${task.task_id}:${start + hour}`,
        at: start + hour,
        title: 'Tea',
        user: { kind: 'account', accountId: 'usr_ann' },
      },
      {
        key: expect.any(String),
        at: start + hour,
        title: 'Guest tea',
        user: { kind: 'endUser', tenantId: 'acme', userId: 'u#1' },
      },
    ]);
    expect(await kept()).toEqual([]);
    // The task itself is as it was: nobody's ETag has changed.
    expect(await f.ok('GET', `/v1/tasks/${task.task_id}`)).toEqual(task);
    await patch(task, { title: 'More tea' });
    await fireDue(worker(), never);
    expect(fired).toHaveLength(2);
  });

  it('follows its task: moved, completed, deleted, removed', async () => {
    const made: WireTask[] = [];
    for (const title of ['moved', 'completed', 'deleted', 'cleared', 'reopened'])
      made.push(await f.create({ title, reminder: at(hour) }));
    await patch(made[0]!, { reminder: at(2 * hour) });
    await patch(made[1]!, { status: 'completed' });
    await f.ok('DELETE', `/v1/tasks/${made[2]!.task_id}`);
    await patch(made[3]!, { reminder: null });
    await patch(made[4]!, { status: 'completed' });
    await patch(made[4]!, { status: 'pending' });
    await f.clock.advance(hour);
    await fireDue(worker(), never);
    expect(fired.map(one => one.title)).toEqual(['reopened']);
    await f.clock.advance(hour);
    await fireDue(worker(), never);
    expect(fired.map(one => one.title)).toEqual(['reopened', 'moved']);
  });

  it('uses the user’s clock, and follows them to another zone', async () => {
    const stop = startConsumers(f);
    await f.ok('PATCH', '/v1/tasks/me', { send: { time_zone: 'Europe/Berlin' } });
    const reminder = { days_before: 1, time: '09:00' };
    const task = await f.create({ title: 'x', due_date: '2026-07-02', reminder });
    expect(task.remind_at).toBe(Date.UTC(2026, 6, 1, 7) / 1000);
    expect((await patch(task, { due_date: '2026-01-11' })).remind_at).toBe(Date.UTC(2026, 0, 10, 8) / 1000);
    await f.ok('PATCH', '/v1/tasks/me', { send: { time_zone: 'America/New_York' } });
    await eventually(async () => (await kept())[0]?.due_at === Date.UTC(2026, 0, 10, 14));
    await stop();
  });

  it('may be far in the future', async () => {
    await f.create({ title: 'x', reminder: { at: '9999-12-31T23:59:59Z' } });
    await f.create({ title: 'Sooner', reminder: at(hour) });
    await f.clock.advance(hour);
    await fireDue(worker(), never);
    expect(fired.map(one => one.title)).toEqual(['Sooner']);
  });

  it('in the past is stored with the task, and not fired', async () => {
    await f.create({ title: 'Late', reminder: at(-hour) });
    await fireDue(worker(), never);
    expect([fired, await kept()]).toEqual([[], []]);
  });
});

describe('the worker', () => {
  it('fires reminders of a killed worker, after its lease', async () => {
    await f.create({ title: 'x', reminder: at(hour) });
    await f.clock.advance(hour);
    answer = () => new Promise(() => {}); // killed inside of the port
    void fireDue({ ...worker(), clock: systemClockAt(f) }, never);
    await eventually(() => fired.length === 1);
    answer = async () => {};
    await fireDue(worker(), never);
    expect(fired).toHaveLength(1);
    await f.clock.advance(minute);
    await eventually(async () => {
      await fireDue(worker(), never);
      return fired.length === 2;
    });
    expect(new Set(fired.map(one => one.key)).size).toBe(1);
    expect(await kept()).toEqual([]);
  });

  it('fires reminders of a dead process at once', async () => {
    await f.create({ title: 'x', reminder: at(hour) });
    await f.clock.advance(hour);
    answer = () => new Promise(() => {}); // killed inside of the port
    void fireDue({ ...worker(), owners: owners.as('victim'), clock: systemClockAt(f) }, never);
    await eventually(() => fired.length === 1);
    answer = async () => {};
    const stopping = new AbortController();
    const running = createReminderWorker(worker()).run(stopping.signal);
    await eventually(() => f.clock.sleepers() > 0);
    expect(fired).toHaveLength(1);
    owners.end('victim');
    await eventually(async () => (await kept()).length === 0);
    expect(fired.map(one => one.key)).toEqual([fired[0]!.key, fired[0]!.key]);
    stopping.abort();
    await running;
  });

  it('changes nothing after it lost its lease', async () => {
    await f.create({ title: 'x', reminder: at(hour) });
    await f.clock.advance(hour);
    let finish = () => {};
    answer = () =>
      new Promise(resolve => {
        finish = resolve;
      });
    const slow = fireDue({ ...worker(), clock: systemClockAt(f) }, never);
    await eventually(() => fired.length === 1);
    await f.clock.advance(2 * minute);
    answer = () => Promise.reject(new Error('not now'));
    await fireDue(worker(), never);
    const [before] = await kept();
    expect(before).toMatchObject({ fence: 2, attempts: 1, failure: 'not now' });
    finish();
    await slow;
    expect(await kept()).toEqual([before]);
  });

  it('does not touch a reminder that its user has moved meanwhile', async () => {
    const task = await f.create({ title: 'x', reminder: at(hour) });
    await f.clock.advance(hour);
    answer = async () => void (await patch(task, { reminder: at(3 * hour) }));
    await fireDue(worker(), never);
    expect(await kept()).toMatchObject([{ due_at: start + 3 * hour, fence: 0 }]);
  });

  it('does not give up while the store is throttled', async () => {
    await f.create({ title: 'x', reminder: at(hour) });
    answer = () => Promise.reject(tableErrors.create('table.busy', 'the table is too busy'));
    await f.clock.advance(hour);
    for (let i = 0; i < 12; i++) {
      await fireDue(worker(), never);
      await f.clock.advance(hour);
    }
    expect(await kept()).toMatchObject([{ attempts: 0, next_at: expect.any(Number) }]);
    answer = async () => {};
    await fireDue(worker(), never);
    expect(await kept()).toEqual([]);
  });

  it('retries soon if a task could not be read, not when its lease ends', async () => {
    await f.create({ title: 'Tea', reminder: at(minute) });
    await f.clock.advance(minute);
    const get: ReminderDeps['store']['get'] = () =>
      Promise.reject(tableErrors.create('table.busy', 'The store is busy'));
    await fireDue({ ...worker(), store: { ...f.store, get } }, never);
    expect(fired).toEqual([]);
    expect(await kept()).toMatchObject([{ attempts: 0 }]);
    await f.clock.advance(limits.reminderRetryFirstMs);
    await fireDue(worker(), never);
    expect(fired).toMatchObject([{ title: 'Tea' }]);
  });

  it('retries with growing delays, and gives up with a note', async () => {
    await f.create({ title: 'x', reminder: at(hour) });
    answer = () => Promise.reject(new Error('no route'));
    await f.clock.advance(hour);
    for (let i = 0; i < 12; i++) {
      await fireDue(worker(), never);
      await f.clock.advance(hour);
    }
    expect(fired).toHaveLength(10);
    const [left] = await kept();
    expect(left).toMatchObject({ attempts: 10, failure: 'no route' });
    expect(left).not.toHaveProperty('next_at');
  });

  it('gives back what it has not delivered when it is stopped: due at once, and not as a failed attempt', async () => {
    await f.create({ title: 'x', reminder: at(hour) });
    answer = () => Promise.reject(new Error('no route'));
    for (let i = 0; i < 9; i++) {
      await f.clock.advance(hour);
      await fireDue(worker(), never);
    }
    answer = () => new Promise(() => {});
    await f.clock.advance(hour);
    const stopping = new AbortController();
    const stopped = fireDue(worker(), stopping.signal);
    await eventually(() => fired.length === 10);
    stopping.abort();
    await stopped;
    expect(await kept()).toMatchObject([{ attempts: 9, failure: 'no route', next_at: f.clock.now() }]);
    answer = async () => {};
    await fireDue(worker(), never);
    expect(await kept()).toEqual([]);
  });

  it('shares the work with others, and fires each reminder once', async () => {
    for (let i = 0; i < 40; i++) await f.create({ title: `${i}`, reminder: at(hour) });
    await f.clock.advance(hour);
    await Promise.all([fireDue(worker(), never), fireDue(worker(), never), fireDue(worker(), never)]);
    expect(fired).toHaveLength(40);
    expect(new Set(fired.map(one => one.key)).size).toBe(40);
  });

  it('wakes up for a new reminder, and when it is due', async () => {
    const stopping = new AbortController();
    const [one] = f.tasks.workers;
    const running = one!.run(stopping.signal);
    const dueAt = new Date(f.clock.now() + 2000).toISOString();
    await f.create({ title: 'Soon', reminder: { at: dueAt } });
    await f.clock.advance(2000);
    await eventually(() => fired.length === 1);
    stopping.abort();
    await running;
  });
});

// The wall of the test, but waits that never end: a worker that hangs.
const systemClockAt = ({ clock }: Fixture) => ({
  ...systemClock,
  now: () => clock.now(),
  sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(10 * minute, signal),
});

// A client whose process dies before or after its nth call: nothing it asks for is ever answered again.
function crashing(client: DynamoClient, calls: number, isAfter: boolean) {
  let left = calls;
  let die = () => {};
  const died = new Promise<void>(resolve => {
    die = resolve;
  });
  const dead = () => {
    die();
    return new Promise<never>(() => {});
  };
  const dying = new Proxy(client, {
    get: (target, name: keyof DynamoClient) => async (input: never) => {
      if (left <= 0) return dead();
      left -= 1;
      if (left === 0 && !isAfter) return dead();
      const answer = await target[name](input);
      return left === 0 ? dead() : answer;
    },
  });
  return { dying, died };
}

describe('a reminder worker that is killed', () => {
  const moments = Array.from({ length: 9 }, (_, i) => i + 1).flatMap(calls => [
    { calls, isAfter: false },
    { calls, isAfter: true },
  ]);

  it.each(moments)('at call $calls (answered: $isAfter) loses no reminder', async ({ calls, isAfter }) => {
    await f.create({ title: 'x', reminder: at(hour) });
    await f.clock.advance(hour);
    const { dying, died } = crashing(f.client, calls, isAfter);
    const doomed = await openTasks({ ...f, wrap: () => dying });
    await Promise.race([died, fireDue({ ...worker(), store: doomed.store }, never)]);
    await f.clock.advance(2 * 60_000);
    await fireDue(worker(), never);
    expect(new Set(fired.map(one => one.key)).size).toBe(1);
    expect(fired.length).toBeLessThanOrEqual(2);
    expect(await kept()).toEqual([]);
  });
});

describe('a reminder that no worker could have written', () => {
  it.each<[string, (item: Attributes) => void]>([
    ['without its fence', item => delete item.fence],
    ['whose fence cannot grow', item => Object.assign(item, { fence: Number.MAX_SAFE_INTEGER })],
    ['without its attempts', item => delete item.attempts],
    ['without its time', item => delete item.due_at],
  ])('stops no other one: %s', async (_, spoil) => {
    const task = await f.create({ title: 'Tea', reminder: at(hour) });
    const { shard } = (await kept())[0]!;
    const made = { user_id: 'usr_mal', task_id: 'tsk_x', due_at: start, next_at: start };
    const { Item } = putParams(reminder, { ...made, shard, fence: 0, attempts: 0 }, {}, 0);
    spoil(Item);
    await f.client.put({ TableName: 'todo-app-data', Item });
    await f.clock.advance(hour);
    await fireDue(worker(), never);
    expect(fired.map(({ key }) => key)).toEqual([`${task.task_id}:${start + hour}`]);
    expect((await f.store.query(remindersDue, { shard }, { limit: 10 })).items).toEqual([]);
  });
});
