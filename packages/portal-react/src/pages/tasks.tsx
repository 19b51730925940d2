import type { ApiTypes, Client } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmButton, Failure, Loaded, onSubmit, Title, useAction } from '../parts.tsx';
import { usePortal } from '../provider.tsx';
import { tasksKey } from '../queries.ts';

type Task = ApiTypes['tasks.list']['data']['data'][number];
type Status = Task['status'];

const columns: readonly { status: Status; label: string }[] = [
  { status: 'pending', label: 'To do' },
  { status: 'in_progress', label: 'In progress' },
  { status: 'completed', label: 'Done' },
];
// A day is the same in every time zone. Days of other years name theirs.
const named = { weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC' } as const;
const dayFormat = new Intl.DateTimeFormat(undefined, named);
const dayOfYearFormat = new Intl.DateTimeFormat(undefined, { ...named, year: 'numeric' });
function formatDay(day: string): string {
  const isThisYear = Number(day.slice(0, 4)) === new Date().getFullYear();
  return (isThisYear ? dayFormat : dayOfYearFormat).format(new Date(day));
}
const tasksShown = 100; // of each column

const readColumn = async (client: Client, status: Status): Promise<Task[]> =>
  (await client.tasks.list({ filter: `status:${status}`, limit: tasksShown })).data.data;

export function Tasks() {
  const { client } = usePortal();
  const [title, setTitle] = useState('');
  const [due, setDue] = useState('');
  const tasks = useQuery({
    queryKey: tasksKey,
    queryFn: async () => (await Promise.all(columns.map(({ status }) => readColumn(client, status)))).flat(),
    refetchInterval: 15_000,
  });
  const create = useAction(async () => {
    await client.tasks.create({ body: { title, ...(due !== '' && { due_date: due }) } });
    setTitle('');
    setDue('');
  }, tasksKey);
  const move = useAction(
    ({ task_id, status }: { task_id: string; status: Status }) =>
      client.tasks.update({ task_id, body: { status } }),
    tasksKey,
  );
  const remove = useAction((task_id: string) => client.tasks.delete({ task_id }), tasksKey);
  return (
    <section>
      <Title>Tasks</Title>
      <form className="stak-portal-bar" onSubmit={onSubmit(() => create.mutate(undefined))}>
        <input
          aria-label="New task"
          placeholder="New task"
          required
          value={title}
          onChange={event => setTitle(event.target.value)}
        />
        <input aria-label="Due" type="date" value={due} onChange={event => setDue(event.target.value)} />
        <button type="submit" className="stak-portal-main" disabled={create.isPending}>
          Add
        </button>
      </form>
      <Failure error={create.error ?? move.error ?? remove.error} />
      <Loaded query={tasks}>
        {all => (
          <div className="stak-portal-board">
            {columns.map(({ status, label }) => (
              <section key={status} aria-label={label}>
                <h2>{label}</h2>
                {all.every(one => one.status !== status) && <p className="stak-portal-dim">No tasks</p>}
                <ul>
                  {all
                    .filter(one => one.status === status)
                    .map(one => (
                      <li key={one.task_id} className="stak-portal-card">
                        <div>{one.title}</div>
                        {one.due_date !== undefined && (
                          <div className="stak-portal-dim">{`Due ${formatDay(one.due_date)}`}</div>
                        )}
                        <div className="stak-portal-bar">
                          <select
                            aria-label={`Status of ${one.title}`}
                            value={one.status}
                            onChange={event =>
                              move.mutate({ task_id: one.task_id, status: event.target.value as Status })
                            }
                          >
                            {columns.map(column => (
                              <option key={column.status} value={column.status}>
                                {column.label}
                              </option>
                            ))}
                          </select>
                          <ConfirmButton
                            label="Delete"
                            about={one.title}
                            onConfirm={() => remove.mutate(one.task_id)}
                          />
                        </div>
                      </li>
                    ))}
                </ul>
              </section>
            ))}
          </div>
        )}
      </Loaded>
    </section>
  );
}
