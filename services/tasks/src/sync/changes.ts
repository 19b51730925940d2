import { httpErrors } from '@stak/http';
import type { Store } from '@stak/table';
import { adoptAll } from '../edit/adopt.ts';
import { type CommitDeps, commit, isExpiryDue, readTally, secondsOf } from '../edit/commit.ts';
import { countedTasks } from '../edit/counted.ts';
import { isForeign } from '../edit/foreign.ts';
import { emptyTally } from '../edit/tally.ts';
import { tasksErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { readTasks } from '../queries/access-patterns.ts';
import { showTask, type Task, type WireTask } from '../schema.ts';
import { allTasks, changesOfUser, type Tally, tasksByStatus } from '../tables.ts';

// Incremental sync. Every write of a user has a number, and an entry that names its tasks. Both are written with it, so
// a client that has read up to a number has missed nothing. A token is that number and the history it belongs to.

export type ChangesPage = {
  changed: WireTask[];
  deleted: { task_id: string }[];
  token: string;
  has_more: boolean;
};
// While a client reads all tasks for the first time, the token also holds the position in that list.
type Token = { epoch: string; seq: number; cursor?: string };

export const tokenShape = /^([0-9a-z]{1,40})\.(\d{1,12})(?:\.([A-Za-z0-9_-]{1,4000}))?$/;

export const tokenText = ({ epoch, seq, cursor }: Token): string =>
  cursor === undefined ? `${epoch}.${seq}` : `${epoch}.${seq}.${cursor}`;

export function parseToken(text: string): Token | undefined {
  const [, epoch, seq, cursor] = tokenShape.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq), cursor };
}

const tokenExpired = () =>
  tasksErrors.create('tasks.token_expired', 'This token has expired. Start again without a token.');

const noEpoch = 'none'; // of a user who has never written anything

// A token from before the first write belongs to the history that this write started.
export const inHistory = <T extends Pick<Token, 'epoch'>>(token: T, { epoch }: Tally): T =>
  token.epoch === noEpoch ? { ...token, epoch } : token;

// The current tally. Expired tasks are subtracted first, which is a change like any other.
export async function currentTally(deps: CommitDeps, user_id: string): Promise<Tally> {
  const known = await readTally(deps, user_id);
  if (!known && !(await hasForeign(deps, user_id))) return emptyTally(user_id, noEpoch);
  if (!known) {
    await adoptAll(deps, user_id);
    return (await readTally(deps, user_id)) ?? emptyTally(user_id, noEpoch);
  }
  if (!isExpiryDue(known, secondsOf(deps.clock))) return known;
  return commit(deps, user_id, 'expire tasks', ({ tally }) => ({ answer: tally }));
}

// A user who has written nothing here may have tasks of another program.
const hasForeign = async ({ store }: CommitDeps, user_id: string): Promise<boolean> =>
  (await store.query(tasksByStatus, { user_id }, { limit: 1 })).items.length > 0;

export async function readChanges(
  deps: CommitDeps,
  user_id: string,
  since: string | undefined,
  limit: number,
): Promise<ChangesPage> {
  const tally = await currentTally(deps, user_id);
  if (since === undefined)
    return readEverything(deps.store, { epoch: tally.epoch, seq: tally.seq }, user_id, limit);
  const parsed = parseToken(since);
  if (!parsed) throw invalidToken();
  const token = inHistory(parsed, tally);
  if (token.cursor !== undefined) return readEverything(deps.store, token, user_id, limit);
  if (token.epoch !== tally.epoch || token.seq > tally.seq) throw tokenExpired();
  const entries = await readEntries(deps.store, user_id, token.seq, tally.seq);
  const ids: string[] = [];
  let seq = token.seq;
  for (const entry of entries) {
    const more = entry.task_ids.filter(id => !ids.includes(id));
    if (ids.length > 0 && ids.length + more.length > limit) break;
    ids.push(...more);
    seq = entry.seq;
  }
  return {
    ...(await describeTasks(deps.store, user_id, ids)),
    token: tokenText({ ...token, seq }),
    has_more: seq < tally.seq,
  };
}

// The numbers have no gaps: if one is missing, it has expired, and the token with it.
export async function readEntries(store: Store, user_id: string, after: number, upTo: number) {
  if (after >= upTo) return [];
  const { items } = await store.query(
    changesOfUser,
    { user_id },
    {
      after: { seq: after },
      limit: limits.changeEntries,
    },
  );
  if (items[0]?.seq !== after + 1) throw tokenExpired();
  for (const [i, { seq }] of items.entries()) if (seq !== after + 1 + i) throw tokenExpired();
  return items;
}

// The tasks as they are now. They may be newer than the change; then another change follows. An expired task has only
// one, which may be there before it has expired by the clock of this process.
export async function describeTasks(store: Store, user_id: string, ids: readonly string[]) {
  const found = await countedTasks(store, await readTasks(store, user_id, ids, true));
  const alive = new Set(found.map(one => one.task_id));
  return {
    changed: found.map(showTask),
    deleted: ids.filter(id => !alive.has(id)).map(task_id => ({ task_id })),
  };
}

// From the table itself, read consistently: everything written before the token's number is in it, and later writes are
// in the changes after that number.
async function readEverything(
  store: Store,
  token: Token,
  user_id: string,
  limit: number,
): Promise<ChangesPage> {
  const options = { limit, cursor: token.cursor, caller: user_id, consistent: true };
  const { items, cursor } = await store.query(allTasks, { user_id }, options).catch(error => {
    throw error.code === 'table.cursor_refused' ? invalidToken(error) : error;
  });
  return {
    // Tasks of another program follow as changes, once they are adopted.
    changed: (
      await countedTasks(
        store,
        (items as Task[]).filter(item => !isForeign(item)),
      )
    ).map(showTask),
    deleted: [],
    token: tokenText({ epoch: token.epoch, seq: token.seq, cursor }),
    has_more: cursor !== undefined,
  };
}

const invalidToken = (cause?: unknown) =>
  httpErrors.create(
    'http.request_invalid',
    'The token is not valid.',
    {
      errors: [{ in: 'query', pointer: '#/since', code: 'invalid_format', detail: 'Start without a token' }],
    },
    cause,
  );
