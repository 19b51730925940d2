import { createEngine } from '@stak/engine';
import { createApi, createMemoryIdempotency, createMemoryRateLimits } from '@stak/http';
import { createIds, createLogger, systemClock } from '@stak/kit';
import { createCursors, createLedger, createStore, createTables, tableErrors } from '@stak/table';
import { createTasks, todoAppData } from '@stak/tasks';

export const tableName = todoAppData.name;
export type OpenTasks = Awaited<ReturnType<typeof openTasks>>;
// The body of the answer, which is a success.
export type Call = (method: string, path: string, body?: object, key?: string) => Promise<string>;

// The service on an engine of its own, called through its routes without a socket.
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
    enterTenant: async () => {},
    remind: async () => {},
  });
  const { app } = createApi({
    info: { title: 'Tasks', version: '1' },
    endpoints: tasks.api,
    errors: [tasks.errors, tableErrors],
    authenticate: async ({ token }) => ({
      kind: 'account',
      accountId: token,
      scope: 'admin',
      via: 'api_key',
      credentialId: 'bench',
    }),
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    rateLimits: {
      store: createMemoryRateLimits(),
      perPrincipal: { name: 'principal', limit: 1e9, windowMs: 60_000 },
    },
  });

  const callAs =
    (accountId: string): Call =>
    async (method, path, body, key) => {
      const response = await app.request(
        path,
        {
          method,
          headers: {
            Authorization: `Bearer ${accountId}`,
            ...(body && { 'Content-Type': 'application/json' }),
            ...(key !== undefined && { 'Idempotency-Key': key }),
          },
          ...(body && { body: JSON.stringify(body) }),
        },
        { remoteAddress: '203.0.113.7' },
      );
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text;
    };
  return { client: engine.client, ledger, callAs, close: () => engine.close() };
}

export const idIn = (task: string): string => (JSON.parse(task) as { task_id: string }).task_id;
export const idsIn = (page: string): string[] =>
  (JSON.parse(page) as { data: { task_id: string }[] }).data.map(({ task_id }) => task_id);
// Without the time that reading the page takes whoever asked for it.
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
