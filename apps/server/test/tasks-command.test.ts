import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SignedIn, signIn } from './signed-in.ts';

let me: SignedIn;
beforeAll(async () => {
  me = await signIn();
}, 60_000);
afterAll(() => me.close());

test('a task goes from its title to the list of completed ones', async () => {
  const id = await me.run('tasks', 'add', 'Call Ann', '--due', '2027-01-31', '--label', 'phone,home');
  expect(id).toMatch(/^tsk_/);
  const [lines, found, unknown] = await Promise.all([
    me.run('tasks', 'list', '--filter', 'label:phone'),
    me.run('tasks', 'search', 'cal an', '--json'),
    me.fail('tasks', 'list', '--filter', 'colour:red'),
  ]);
  expect(lines.split('\n')).toEqual([
    expect.stringMatching(/^id +due +priority/),
    expect.stringMatching(new RegExp(`^${id}  2027-01-31 .*pending .*Call Ann$`)),
  ]);
  expect(JSON.parse(found)).toMatchObject([{ task_id: id, labels: ['phone', 'home'] }]);
  expect(unknown).toContain('Unknown field "colour"');

  expect(await me.run('tasks', 'done', id)).toBe('done: Call Ann');
  const [open, csv] = await Promise.all([
    me.run('tasks', 'list'),
    me.run('tasks', 'export', '--format', 'csv'),
  ]);
  expect(open).not.toContain(id);
  expect(csv).toMatch(new RegExp(`^task_id,title.*\\r\\n${id},Call Ann,.*,completed,`));
}, 120_000);
