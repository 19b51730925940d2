import type { Fixture, Load, Violation } from './fixture.ts';

// One person's tasks, edited from several places at once: made, moved, completed, deleted. Each is made once, a series
// goes on with one next task, every count says what the list says, and the order is one.

type Task = {
  task_id: string;
  title: string;
  status: string;
  priority?: string;
  position?: string;
  series_id?: string;
  due_date?: string;
  version: number;
};
const path = '/v1/tasks';

export async function createTasksLoad(fixture: Fixture): Promise<Load> {
  const { call, make, list, random, pick, below, nowMs, unanswered } = fixture;
  const wrong: Violation[] = [];
  const reminders = new Map<string, number>(); // when they are due, by title
  const known = new Map<string, { id: string; isSeries: boolean; isDeleted: boolean; completed: number }>(); // by title
  let made = 0;
  const busy = new Set<string>(); // one thing at a time happens to a task: then what has to come of it is known

  const create = async () => {
    const title = `task-${++made}.`;
    const isSeries = random() < 0.3;
    const priority = random() < 0.5 ? pick(['low', 'high']) : undefined;
    const atMs = !isSeries && random() < 0.4 ? nowMs() + 4_000 + below(8_000) : undefined;
    const { task_id } = await make('POST', path, {
      send: {
        title,
        priority,
        ...(atMs !== undefined && { reminder: { at: new Date(atMs).toISOString() } }),
        ...(isSeries && { due_date: '2026-01-01', recurrence: 'FREQ=DAILY' }),
      },
      key: title,
    });
    if (atMs !== undefined) reminders.set(title, atMs);
    known.set(title, { id: task_id, isSeries, isDeleted: false, completed: 0 });
  };

  const withTask = async (act: (title: string, task: { id: string; isSeries: boolean }) => Promise<void>) => {
    const free = [...known].filter(([title, { isDeleted }]) => !isDeleted && !busy.has(title));
    if (free.length === 0) return;
    const [title, task] = pick(free);
    busy.add(title);
    try {
      await act(title, task);
    } finally {
      busy.delete(title);
    }
  };

  const complete = () =>
    withTask(async (title, { id, isSeries }) => {
      const one = known.get(title)!;
      if (one.completed > 0 && !isSeries) return;
      // On two devices at the same time, now and then.
      const done = () => make('PATCH', `${path}/${id}`, { send: { status: 'completed' } });
      await Promise.all([done(), random() < 0.4 ? done() : undefined]);
      one.completed += 1;
      if (!isSeries) return;
      const next = (await list<Task>(path)).filter(
        task => task.title === title && task.status === 'pending' && task.task_id !== id,
      );
      if (next.length === 1) one.id = next[0]!.task_id;
      else one.isDeleted = true; // an index that is late: it is left alone from now on, and still counted
    });

  const move = () =>
    withTask(async (_, { id }) => {
      const other = pick([...known.values()]);
      const to = other.isDeleted || other.id === id ? { to: 'top' } : { before: other.id };
      // The other one may be gone by then, or completed.
      await call('PUT', `${path}/${id}/position`, { send: to });
    });

  // Two people have seen the same version: one of them changes it.
  const edit = () =>
    withTask(async (title, { id }) => {
      const { status, etag } = await call('GET', `${path}/${id}`);
      if (status !== 200) return;
      const before = unanswered();
      const headers = { 'If-Match': etag };
      const write = (notes: string) =>
        call('PATCH', `${path}/${id}`, { send: { description: notes }, headers });
      const answers = await Promise.all([write(`one ${etag}`), write(`other ${etag}`)]);
      const winners = answers.filter(answer => answer.status === 200);
      if (winners.length > 1 || (winners.length === 0 && unanswered() === before))
        wrong.push({
          what: `${winners.length} of two changed ${title} of one version`,
          about: [title, id],
          isFinal: true,
        });
    });

  const remove = () =>
    withTask(async (title, { id, isSeries }) => {
      if (isSeries) return;
      await call('DELETE', `${path}/${id}`);
      known.get(title)!.isDeleted = true;
    });

  const act = async () => {
    const chance = random();
    await (chance < 0.35
      ? create()
      : chance < 0.55
        ? complete()
        : chance < 0.75
          ? move()
          : chance < 0.92
            ? edit()
            : remove());
  };

  // Each one of a task that is open is in the inbox of its owner once. That of a task that was completed or deleted may be.
  async function checkReminders(tasks: readonly Task[]): Promise<Violation[]> {
    const sends = (await fixture.items('stak-inbox')).filter(
      item => item.audiences !== undefined && item.status !== undefined,
    );
    const found: Violation[] = [];
    for (const [title, atMs] of reminders) {
      const { id } = known.get(title)!;
      const times = sends.filter(({ host_system_id }) => String(host_system_id).startsWith(`${id}:`)).length;
      const isOpen = tasks.some(({ task_id, status }) => task_id === id && status === 'pending');
      if (times > 1 || (times === 0 && isOpen && atMs < nowMs()))
        found.push({
          what: `${title} was reminded of ${times} times`,
          about: [title, id],
          isFinal: times > 1,
        });
    }
    return found;
  }

  return {
    name: 'tasks',
    users: [act, act],
    async check() {
      const tasks = await list<Task>(path);
      const found: Violation[] = [...wrong, ...(await checkReminders(tasks))];
      for (const [title, { isSeries, isDeleted, completed }] of known) {
        const times = tasks.filter(task => task.title === title);
        const about = [title, ...times.map(({ task_id }) => task_id)];
        if (isSeries) {
          const open = times.filter(({ status }) => status === 'pending').length;
          const done = times.filter(({ status }) => status === 'completed').length;
          if (open !== 1 || done !== completed)
            found.push({
              what: `the series ${title} was completed ${completed} times, and has ${open} open and ${done} completed tasks`,
              about,
            });
          const days = new Set(times.map(({ due_date }) => due_date));
          if (days.size !== times.length)
            found.push({ what: `the series ${title} has one day twice`, about, isFinal: true });
        } else if (times.length !== (isDeleted ? 0 : 1))
          found.push({ what: `${title} is there ${times.length} times`, about });
        else if (times[0] && (times[0].status === 'completed') !== completed > 0)
          found.push({ what: `${title} is ${times[0].status}`, about });
      }
      for (const { title } of tasks)
        if (!known.has(title) && title.startsWith('task-'))
          found.push({ what: `${title} is a task of nobody`, about: [title] });
      const { body: counts } = await call('GET', `${path}/counts`);
      const byStatus = (name: string) => tasks.filter(({ status }) => status === name).length;
      if (counts.total !== tasks.length)
        found.push({ what: `${counts.total} of ${tasks.length} tasks are counted`, about: ['tasks'] });
      for (const name of ['pending', 'completed'])
        if (counts.by_status[name] !== byStatus(name))
          found.push({
            what: `${byStatus(name)} tasks are ${name}, and ${counts.by_status[name]} are counted`,
            about: ['tasks'],
          });
      for (const name of ['low', 'high'] as const) {
        const there = tasks.filter(({ priority }) => priority === name).length;
        if ((counts.by_priority[name] ?? 0) !== there)
          found.push({
            what: `${there} tasks have the priority ${name}, and ${counts.by_priority[name]} are counted`,
            about: ['tasks'],
          });
      }
      const positions = tasks.flatMap(({ position }) => position ?? []);
      if (new Set(positions).size !== positions.length)
        found.push({ what: 'two tasks have one position', about: ['position'], isFinal: true });
      return found;
    },
  };
}
