import { hashParts, httpErrors } from '@stak/http';
import { type NamedStep, type WriteStep, write } from '@stak/table';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { type NewTask, showTask, type Task } from '../schema.ts';
import { idempotency } from '../tables.ts';
import { type CommitDeps, commit, type Decision, type View } from './commit.ts';
import { createDraft } from './draft.ts';
import { readEnds } from './order.ts';
import { newPosition } from './position.ts';
import { addToParent } from './update.ts';

export type KeyedRequest = { method: string; route: string; key: string; body: Uint8Array };
// The request of another service, as if by the API.
export const requestOf = (key: string) => ({ method: 'POST', route: '/v1/tasks', key });

export type Origin = { request?: KeyedRequest; cause?: string };
// As it is sent: the first response and its replays are the same bytes.
export type CreateAnswer = { body: string; status: number; task_id: string; isReplayed: boolean };

// One transaction writes the task, its idempotency record, the tally and the change. Of several requests with one key,
// one creates the task and the others find its record.
export function createTask(
  deps: CommitDeps,
  user_id: string,
  input: NewTask,
  { request, cause }: Origin = {},
): Promise<CreateAnswer> {
  return commit(deps, user_id, 'create task', async view => {
    const replay = request && (await findReplay(deps, user_id, request));
    if (replay) return { answer: replay };
    return decideCreation(deps, user_id, input, view, { request, cause });
  });
}

async function decideCreation(
  deps: CommitDeps,
  user_id: string,
  input: NewTask,
  view: View,
  { request, cause }: Origin,
): Promise<Decision<CreateAnswer>> {
  const { nowS } = view;
  const task_id = deps.ids.next('tsk');
  const request_id = request && requestId(user_id, request);
  const moments = { created_at: nowS, updated_at: nowS, completed_at: null };
  const draft = createDraft(deps, view);
  const ends = await readEnds(deps, draft);
  const position = newPosition(task_id, nowS, ends.last_position);
  const made: Task = { user_id, task_id, ...input, ...moments, position, version: 1, request_id, cause };
  await addToParent(draft, made);
  draft.put(made);
  const body = JSON.stringify(showTask(draft.result(task_id)));
  const answer = { body, status: 201, task_id, isReplayed: false };
  const record = request_id && request && recordOf(request_id, request, made, answer, nowS);
  const steps: NamedStep[] = record
    ? [['idempotency record', write.put(idempotency, record, { ifAbsent: true })]]
    : [];
  return { answer, taskChanges: draft.taskChanges(), steps, settings: ends };
}

// The design's access pattern "idempotency check": one item, by its key.
export async function findReplay(
  { store }: Pick<CommitDeps, 'store'>,
  user_id: string,
  request: KeyedRequest,
): Promise<CreateAnswer | undefined> {
  const key = { request_id: requestId(user_id, request) };
  const found = await store.get(idempotency, key, { consistent: true, pattern: 'idempotency check' });
  if (!found) return undefined;
  const { response_data, target_task_sk } = found;
  if (response_data === undefined || target_task_sk === undefined)
    throw tasksErrors.create(
      'tasks.task_purged',
      'The task created with this Idempotency-Key was permanently deleted.',
    );
  if (found.fingerprint !== hashParts(request.body))
    throw httpErrors.create(
      'http.idempotency_mismatch',
      'This Idempotency-Key was used for another request.',
    );
  return {
    body: response_data,
    status: found.http_status_code,
    task_id: target_task_sk.slice('TASK#'.length),
    isReplayed: true,
  };
}

// Leaves the key of a record when its task is deleted permanently. The response held the task's text, so it goes; the
// key stays taken, so that a repeated request does not create the task again. Nothing if the record has expired.
export function clearedRecords(tasks: readonly Task[], nowS: number): WriteStep[] {
  return tasks.flatMap(({ request_id, created_at }) => {
    const ttl = created_at + limits.idempotencyS;
    if (request_id === undefined || ttl <= nowS) return [];
    return [write.put(idempotency, { request_id, http_status_code: 410, created_at, ttl })];
  });
}

// The id of the record of a request.
export const requestId = (user_id: string, { method, route, key }: Omit<KeyedRequest, 'body'>): string =>
  hashParts(user_id, method, route, key);

function recordOf(
  request_id: string,
  request: KeyedRequest,
  { user_id, task_id }: Task,
  { body, status }: CreateAnswer,
  nowS: number,
) {
  return {
    request_id,
    fingerprint: hashParts(request.body),
    response_data: body,
    target_task_pk: `TASK#${user_id}`,
    target_task_sk: `TASK#${task_id}`,
    http_status_code: status,
    created_at: nowS,
    ttl: nowS + limits.idempotencyS,
  };
}
