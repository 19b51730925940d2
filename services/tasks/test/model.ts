// A user's tasks as plain lists: what the service has to agree with, written in the most obvious way.

export type Plain = {
  id: string;
  status: string;
  priority?: string;
  category?: string;
  labels: string[];
  due_date?: string;
  parent?: string;
  subtasks: string[];
  completedAtS?: number;
  restoredAtS?: number;
  expiresAtS?: number;
};
export type Model = { live: Plain[]; trash: (Plain & { deletedAtS: number })[]; retentionDays?: number };

const dayS = 24 * 60 * 60;
const trashDays = 30;

export const isOpen = ({ status }: Plain) => status === 'pending' || status === 'in_progress';
const find = (model: Model, id: string | undefined) => model.live.find(one => one.id === id);

export function addTask(model: Model, task: Plain, nowS: number): void {
  model.live.push(task);
  model.live.sort((a, b) => (a.id < b.id ? -1 : 1));
  find(model, task.parent)?.subtasks.push(task.id);
  setStatus(model, task, task.status, nowS);
}

export function setStatus(model: Model, task: Plain, status: string, nowS: number): void {
  task.status = status;
  task.completedAtS = status === 'completed' ? (task.completedAtS ?? nowS) : undefined;
  task.expiresAtS = undefined;
  if (task.completedAtS === undefined || model.retentionDays === undefined) return;
  const keptFromS = Math.max(task.completedAtS, task.restoredAtS ?? 0);
  task.expiresAtS = Math.max(keptFromS + model.retentionDays * dayS, nowS);
}

function leave(model: Model, task: Plain): void {
  const parent = find(model, task.parent);
  if (parent) parent.subtasks = parent.subtasks.filter(id => id !== task.id);
}

// With its subtasks, which remember whose they were.
export function deleteTask(model: Model, task: Plain, nowS: number): void {
  leave(model, task);
  const gone = new Set([task.id, ...task.subtasks]);
  for (const one of model.live) if (gone.has(one.id)) model.trash.push({ ...one, deletedAtS: nowS });
  model.live = model.live.filter(one => !gone.has(one.id));
}

export function restoreTask(model: Model, id: string, nowS: number): void {
  const found = model.trash.find(one => one.id === id)!;
  const subtasks = found.subtasks.filter(child =>
    model.trash.some(one => one.id === child && one.parent === id),
  );
  const back = model.trash.filter(one => one.id === id || subtasks.includes(one.id));
  model.trash = model.trash.filter(one => !back.includes(one));
  for (const { deletedAtS: _, ...one } of back) {
    const parent = one.id === id ? find(model, one.parent)?.id : id;
    model.live.push({ ...one, parent, subtasks: one.id === id ? subtasks : [] });
  }
  model.live.sort((a, b) => (a.id < b.id ? -1 : 1));
  const restored = find(model, id)!;
  find(model, restored.parent)?.subtasks.push(id);
  for (const child of [id, ...subtasks]) find(model, child)!.restoredAtS = nowS;
  for (const child of [id, ...subtasks])
    setStatus(model, find(model, child)!, find(model, child)!.status, nowS);
}

// Time passes: completed tasks expire, and so does the trash.
export function advance(model: Model, nowS: number): void {
  model.trash = model.trash.filter(one => one.deletedAtS + trashDays * dayS > nowS);
  const gone = model.live.filter(one => one.expiresAtS !== undefined && one.expiresAtS <= nowS);
  for (const task of gone) leave(model, task);
  model.live = model.live.filter(one => !gone.includes(one));
  for (const task of model.live) if (!find(model, task.parent)) task.parent = undefined;
}

export function countBy(
  tasks: readonly Plain[],
  key: 'status' | 'priority' | 'category',
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(task[key] ?? 'none', (counts.get(task[key] ?? 'none') ?? 0) + 1);
  return counts;
}

// In the order of a sort key: bytes of what it is sorted by, then the id.
export function sortedBy(tasks: readonly Plain[], key: (task: Plain) => string | undefined): string[] {
  const compare = (a = '', b = '') => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return tasks.toSorted((a, b) => compare(key(a), key(b)) || compare(a.id, b.id)).map(task => task.id);
}
