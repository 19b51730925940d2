import ICAL from 'ical.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Fixture, openTasks } from './tasks-fixture.ts';

let f: Fixture;
beforeAll(async () => {
  f = await openTasks();
});
afterAll(() => f.close());

const address = async (as = 'ann') => {
  const { address } = await f.ok<{ address: string }>('PUT', '/v1/tasks/feed', { as });
  expect(address).toMatch(/^https:\/\/api\.example\/v1\/tasks\/feeds\/[\w-]{32}\.ics$/);
  return new URL(address).pathname;
};
const read = (path: string, etag = '') =>
  f.call('GET', path, { as: 'nobody', headers: { 'If-None-Match': etag } });

describe('the calendar', () => {
  it('has every task with a due date on its day, as another program parses it', async () => {
    await f.create({
      title: 'Pay, or else; "now"',
      description: 'Line one\nline two, 🏠',
      due_date: '2026-03-29',
      category: 'money, mine',
      labels: ['a'],
    });
    await f.create({ title: 'Weekly', due_date: '2026-01-05', recurrence: 'FREQ=WEEKLY;COUNT=3' });
    await f.create({ title: 'Done', due_date: '2026-01-02', status: 'completed' });
    await f.create({ title: 'Never', due_date: '2026-01-02', status: 'cancelled' });
    await f.create({ title: 'Whenever' });
    await f.create({ title: 'Long ago', due_date: '2025-01-01' });
    const response = await read(await address());
    expect(response.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
    const calendar = new ICAL.Component(ICAL.parse(await response.text()));
    const events = calendar.getAllSubcomponents('vevent').map(one => new ICAL.Event(one));
    const days = events.map(event => `${event.startDate.toString()} ${event.summary}`).sort();
    expect(days).toEqual(['2026-01-02 ✓ Done', '2026-01-05 Weekly', '2026-03-29 Pay, or else; "now"']);
    const [pay, weekly] = [
      events.find(event => event.summary.startsWith('Pay'))!,
      events.find(event => event.isRecurring())!,
    ];
    expect([pay.startDate.isDate, pay.description]).toEqual([true, 'Line one\nline two, 🏠']);
    expect(pay.component.getFirstProperty('categories')!.getValues()).toEqual(['money, mine', 'a']);
    const times = weekly.iterator();
    expect([times.next(), times.next(), times.next(), times.next()].map(one => one?.toString())).toEqual([
      '2026-01-05',
      '2026-01-12',
      '2026-01-19',
      undefined,
    ]);
  });

  it('shows only the remaining dates of a series', async () => {
    const { task_id } = await f.create({
      title: 'Twice',
      due_date: '2026-01-05',
      recurrence: 'FREQ=WEEKLY;COUNT=2',
    });
    await f.ok('PATCH', `/v1/tasks/${task_id}`, { send: { status: 'completed' } });
    const calendar = new ICAL.Component(ICAL.parse(await (await read(await address())).text()));
    const events = calendar.getAllSubcomponents('vevent').map(one => new ICAL.Event(one));
    const shown = events.map(event => `${event.startDate} ${event.summary} ${event.isRecurring()}`);
    expect(shown.filter(one => one.includes('Twice')).sort()).toEqual([
      '2026-01-05 ✓ Twice false',
      '2026-01-12 Twice false',
    ]);
  });

  it('has all of many tasks, and shortens long descriptions', async () => {
    const other = await openTasks();
    onTestFinished(other.close);
    const description = '🏠, '.repeat(2_500);
    for (let i = 0; i < 45; i++)
      await other.create({ title: `Task ${i}`, description, due_date: '2026-03-01' });
    const { address } = await other.ok<{ address: string }>('PUT', '/v1/tasks/feed');
    const text = await (await other.call('GET', new URL(address).pathname, { as: 'nobody' })).text();
    const calendar = new ICAL.Component(ICAL.parse(text));
    const events = calendar.getAllSubcomponents('vevent').map(one => new ICAL.Event(one));
    expect(new Set(events.map(event => event.summary)).size).toBe(45);
    for (const event of events) expect(event.description).toMatch(/^(?:🏠, ){240,250}…$/u);
    expect(text.match(/BEGIN:VCALENDAR|END:VCALENDAR|PRODID/g)).toHaveLength(3);
  });

  it('is not sent again until something changes', async () => {
    const path = await address();
    const etag = (await read(path)).headers.get('etag')!;
    expect((await read(path, etag)).status).toBe(304);
    await f.create({ title: 'New', due_date: '2026-02-02' });
    expect((await read(path, etag)).status).toBe(200);
  });

  it('is neither replaced nor revoked with an outdated version', async () => {
    const path = await address();
    const stale = (await f.call('GET', '/v1/tasks/me')).headers.get('etag')!;
    const replaced = await f.call('PUT', '/v1/tasks/feed', { etag: stale });
    expect(replaced.status).toBe(200);
    expect((await f.call('PUT', '/v1/tasks/feed', { etag: stale })).status).toBe(412);
    expect((await f.call('DELETE', '/v1/tasks/feed', { etag: stale })).status).toBe(412);
    expect((await read(path)).status).toBe(404);
    const etag = replaced.headers.get('etag')!;
    expect((await f.call('DELETE', '/v1/tasks/feed', { etag })).status).toBe(204);
  });

  it('has an unguessable address that can be replaced and revoked', async () => {
    const first = await address();
    const second = await address();
    expect((await read(first)).status).toBe(404);
    expect((await read(second)).status).toBe(200);
    await f.ok('DELETE', '/v1/tasks/feed');
    expect((await read(second)).status).toBe(404);
    expect((await f.call('DELETE', '/v1/tasks/feed')).status).toBe(404);
    expect((await read(`/v1/tasks/feeds/${'A'.repeat(32)}.ics`)).status).toBe(404);
    expect((await read('/v1/tasks/feeds/short.ics')).status).toBe(400);
    expect(JSON.stringify((await f.client.scan({ TableName: 'todo-app-data' })).Items)).not.toContain(
      second.slice(-36, -4),
    );
  });
});

describe('an export', () => {
  it('is JSON with everything, or CSV that no spreadsheet executes', async () => {
    const hostile = '=HYPERLINK("http://evil.example","x")';
    await f.create(
      {
        title: hostile,
        description: 'a "quoted", line\nand -another',
        category: '@sum',
        labels: ['+1', 'b'],
      },
      { as: 'bob' },
    );
    await f.create({ title: 'Plain', due_date: '2026-01-02' }, { as: 'bob' });
    const json = await f.call('GET', '/v1/tasks/export', { as: 'bob' });
    expect(json.headers.get('content-disposition')).toBe('attachment; filename="tasks.json"');
    expect(await json.json()).toMatchObject([{ title: hostile, labels: ['+1', 'b'] }, { title: 'Plain' }]);

    const csv = await (await f.call('GET', '/v1/tasks/export?format=csv', { as: 'bob' })).text();
    const [head, first] = csv.split('\r\n');
    expect(head).toMatch(/^task_id,title,description,status/);
    expect(first).toContain(`"'=HYPERLINK(""http://evil.example"",""x"")"`);
    expect(first).toContain('"a ""quoted"", line\nand -another"');
    expect(first).toContain(",'@sum,'+1; b,");
    expect(csv.endsWith('\r\n')).toBe(true);
  });

  it('of nothing is still a file', async () => {
    expect(await (await f.call('GET', '/v1/tasks/export', { as: 'endUser' })).json()).toEqual([]);
  });
});
