import { storedTask, type Task, taskId } from '../schema.ts';
import { firstPosition } from './position.ts';

// A task that another program wrote as the document describes has neither a version nor its ids: they are in its key.
export const isForeign = ({ version }: Partial<Pick<Task, 'version'>>): boolean => version === undefined;

// Such a task as this service stores it. Undefined if it is not one that the document allows: it is left alone.
export function taskOfForeign(
  stored: object,
  user_id: string,
  task_id: string,
  nowS: number,
): Task | undefined {
  if (!taskId.safeParse(task_id).success) return undefined;
  const given = Object.fromEntries(
    Object.entries(stored).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  );
  const { created_at = nowS, updated_at = created_at, completed_at = null } = given;
  const known = { ...given, user_id, task_id, created_at, updated_at, completed_at, version: 0 };
  const { data } = storedTask.safeParse(known);
  return data && { ...data, position: data.position ?? firstPosition(task_id, data.created_at) };
}
