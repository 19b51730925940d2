import type { AccountPrincipal } from '@stak/http';
import { type Find, type Findings, type Ref, refOfCause, refText, type Thing } from '@stak/kit';
import type { OpenServices } from './services.ts';

type Lake = Pick<NonNullable<OpenServices['lake']>, 'history'>;
type Image = Record<string, unknown>;

// What is not stored any more is still known to the lake, to accounts, without its words. A lake that is busy, or far
// behind, is no reason to explain nothing.
export const withRecall = (findings: Findings, { history }: Lake): Findings => {
  const recalled =
    (find: Find, table: 'events' | 'tasks', thingOf: (image: Image, accountId: string) => Thing): Find =>
    async (parts, asker) => {
      const found = await find(parts, asker);
      const id = parts.at(-1);
      if (found.length > 0 || id === undefined || asker.userId !== undefined) return found;
      const image = await imageIn(history, table, id, asker.accountId).catch(() => undefined);
      const thing = image && thingOf(image, asker.accountId);
      // The lake is asked for an id, which may be that of somebody else's task.
      return thing && refText(thing.ref) === refText({ kind: thing.ref.kind, parts }) ? [thing] : [];
    };
  return {
    ...findings,
    event: recalled(findings.event!, 'events', eventThing),
    task: recalled(findings.task!, 'tasks', taskThing),
  };
};

// Returns an item as it was when it was last seen. The lake shows an account its own rows and those of its tenants only.
async function imageIn(
  history: Lake['history'],
  table: 'events' | 'tasks',
  id: string,
  accountId: string,
): Promise<Image | undefined> {
  const caller: AccountPrincipal = {
    kind: 'account',
    accountId,
    scope: 'read',
    via: 'api_key',
    credentialId: 'why',
  };
  const { data } = await history(caller, table, id);
  if (data.length === 0) return undefined;
  const image: Image = {};
  for (const { kind, changes } of data.toReversed())
    for (const { field, before, after } of changes) image[field] = kind === 'remove' ? before : after;
  return image;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function eventThing(image: Image, accountId: string): Thing {
  const of = textOf(image.eventType) ?? textOf(image.method) ?? 'an event';
  return {
    ref: { kind: 'event', parts: [String(image.eventId)] },
    at: numberOf(image.receivedAt),
    what: `${of} from ${textOf(image.sourceId) ?? 'a source'}, not stored any more`,
    decided: textOf(image.status),
    owner: { account: textOf(image.userId) ?? accountId },
    followed: [],
  };
}

function taskThing(image: Image, accountId: string): Thing {
  const [userId, taskId] = [String(image.user_id), String(image.task_id)];
  const cause = textOf(image.cause);
  const other: Ref = { kind: 'task', parts: [userId, cause ?? ''] };
  const created = numberOf(image.created_at);
  return {
    ref: { kind: 'task', parts: [userId, taskId] },
    at: created === undefined ? undefined : created * 1000,
    what: 'a task, not stored any more',
    owner: { account: accountId }, // or of one of its tenants: its rows are what the lake shows
    cause: cause?.startsWith('tsk_') ? other : refOfCause(cause, accountId),
    followed: [],
  };
}
