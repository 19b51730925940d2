import { createEngine } from '@stak/engine';
import { unguarded } from '@stak/http';
import { createIds, createLogger, systemClock } from '@stak/kit';
import { createCursors, createLedger, createStore, createTables } from '@stak/table';
import { createTasks, todoAppData } from '@stak/tasks';
import { serveInProcess } from '../in-process-api.ts';

export const tableName = todoAppData.name;
export type OpenTasks = Awaited<ReturnType<typeof openTasks>>;

// The service on its own engine, called directly and through its routes, without a socket.
export async function openTasks(path: string) {
  const engine = await createEngine({ path });
  await createTables(engine, [todoAppData]);
  const clock = systemClock;
  const ledger = createLedger();
  const log = createLogger({ level: 'silent' });
  const cursors = createCursors('a secret');
  const store = createStore({ client: engine.client, ledger, cursors });
  const ids = createIds({ clock });
  const tasks = createTasks({
    store,
    clock,
    ids,
    log,
    cursors,
    isTenantActive: async () => true,
    remind: async () => {},
  });
  const callAs = serveInProcess({
    endpoints: tasks.api,
    guards: unguarded,
    errors: [tasks.errors],
    authenticate: async ({ token }) => ({
      kind: 'account',
      accountId: token,
      scope: 'admin',
      via: 'api_key',
      credentialId: 'bench',
    }),
    clock,
    log,
  });
  const { operations } = tasks;
  return { client: engine.client, ledger, operations, callAs, close: () => engine.close() };
}

export const idIn = (task: string): string => (JSON.parse(task) as { task_id: string }).task_id;
export const idsIn = (page: string): string[] =>
  (JSON.parse(page) as { data: { task_id: string }[] }).data.map(({ task_id }) => task_id);
// Counts without parsing, so that the client's own parsing is not measured.
export const countIn = (page: string): number => page.split('"task_id":').length - 1;

const statuses = ['pending', 'in_progress', 'completed', 'cancelled'];
const priorities = ['low', 'medium', 'high', 'urgent'];

// About half a kilobyte; of 40 in a row there are ten of each status and of each priority.
export const newTask = (i: number) => ({
  title: `Task number ${i}`,
  description: 'It is not much, but it has to be done by somebody. '.repeat(4),
  status: statuses[i % 4]!,
  priority: priorities[Math.floor(i / 4) % 4]!,
  category: ['work', 'home'][i % 2]!,
  due_date: `2026-01-${String(1 + (i % 20)).padStart(2, '0')}`,
});
export const tasksInRow = 40;
