import { hashParts, type PrincipalOf, principalKey } from '@stak/http';
import { type Decider, decide } from '../approvals/decisions.ts';
import { isReply, isWaiting, type Outcome, readOutcome, waitForAnswer } from '../chat/outcome.ts';
import { findConversation } from '../conversations/external-writes.ts';
import { showReply } from '../conversations/views.ts';
import type { EnteredTenant, Service, TurnDeps } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import * as schema from '../schema.ts';
import { resolveChat, resolveUser } from '../state/access.ts';
import type { Address } from '../state/answer-ids.ts';
import { cleanText } from '../state/message-format.ts';
import { readTurns } from '../state/reads.ts';
import type { TurnItem } from '../state/turn-items.ts';
import { cancelAnswers } from '../turns/cancel.ts';
import { awaitAnswer, sendMessage } from '../turns/send-message.ts';
import { A2aError } from './errors.ts';
import { decisions, type ListParams, type SendParams, type SentMessage } from './schema.ts';
import { isOver, parseTaskId, showTask, stateOf } from './task-view.ts';

export type A2aDeps = TurnDeps &
  Pick<Service, 'isStoreLocal' | 'countMessage' | 'roleOf' | 'audit' | 'publicUrl'>;

// Who asks, in which tenant.
export type Asker = {
  caller: PrincipalOf<'user'>;
  tenant: EnteredTenant;
  decider: Decider; // of approvals, for the audit trail
  cause: string; // of what is written
};
export type Started = { address: Address; answer: Promise<TurnItem | undefined> };

const invalid = (message: string) => new A2aError('INVALID_PARAMS', message);
const noTask = () => new A2aError('TASK_NOT_FOUND', 'There is no such task');

export async function findTask(service: A2aDeps, { caller, tenant }: Asker, id: string): Promise<Address> {
  const parsed = parseTaskId(id);
  if (!parsed) throw noTask();
  const address = { tenant_id: tenant.tenant_id, ...parsed };
  await findConversation(service, caller, address);
  return address;
}

// A message begins a task. One that names a task decides the approvals that it waits for.
export async function start(
  service: A2aDeps,
  asker: Asker,
  params: SendParams,
  isFollowed: boolean,
): Promise<Started> {
  const { message, configuration } = params;
  if (
    configuration?.taskPushNotificationConfig !== undefined &&
    configuration.taskPushNotificationConfig !== null
  )
    throw noPush();
  if (message.taskId !== undefined) return decideTask(service, asker, message);
  const { caller, tenant, cause } = asker;
  const content = textOf(message);
  const key = `a2a ${message.messageId}`;
  const { tenant_id } = tenant;
  const conversation_id =
    message.contextId === undefined
      ? `chat-${hashParts('a2a', principalKey(caller), message.messageId)}`
      : (await resolveChat(service, caller, { tenant_id, conversation_id: contextOf(message.contextId) }))
          .conversation_id;
  const sent = await sendMessage(service, {
    ...{ caller, tenant, conversation_id, content, key, cause, isFollowed, creates: true },
    user_id: resolveUser(caller, userOf(params)),
  });
  return { address: { tenant_id, conversation_id, message_id: sent.message_id }, answer: sent.outcome };
}

export const noPush = () =>
  new A2aError(
    'PUSH_NOTIFICATION_NOT_SUPPORTED',
    'Push notifications are not supported: subscribe to the task, or get it again',
  );

// A host may say which of its users it speaks for.
function userOf({ metadata }: SendParams): string | undefined {
  const parsed = schema.userId.optional().safeParse(metadata?.user_id);
  if (!parsed.success) throw invalid('metadata.user_id: not the id of a user');
  return parsed.data;
}

function contextOf(contextId: string): string {
  const parsed = schema.conversationId.safeParse(contextId);
  if (!parsed.success) throw invalid('message.contextId: letters, digits and . _ : @ | + = ~ -, at most 128');
  return parsed.data;
}

function textOf({ parts }: SentMessage): string {
  if (parts.some(({ text, data }) => text === undefined && data === undefined))
    throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', 'Only text can be sent');
  const texts = parts.map(({ text, data }) => text ?? JSON.stringify(data));
  const content = cleanText(texts.join('\n'));
  if (content.trim() === '') throw invalid('message.parts: something has to be said');
  if (content.length > limits.contentChars)
    throw invalid(`message.parts: at most ${limits.contentChars} characters`);
  return content;
}

async function decideTask(service: A2aDeps, asker: Asker, message: SentMessage): Promise<Started> {
  const { caller, decider } = asker;
  const address = await findTask(service, asker, message.taskId!);
  if (message.contextId !== undefined && message.contextId !== address.conversation_id)
    throw invalid('message.contextId: the task is of another context');
  const given = decisions.safeParse(message.parts.flatMap(({ data }) => (data === undefined ? [] : [data])));
  const { outcome } = await readOutcome(service, address);
  if (isOver(outcome) || !outcome || isReply(outcome) || !('approvals' in outcome))
    throw new A2aError(
      'UNSUPPORTED_OPERATION',
      'The task does not wait for anything. Send a message with its contextId instead',
    );
  if (!given.success)
    throw invalid(
      'message.parts: the task waits for approvals. Send {"approval_id", "approved"} as data of a part',
    );
  const isOfTask = (approval_id: string) => outcome.approvals.some(one => one.approval_id === approval_id);
  for (const { approval_id } of given.data)
    if (!isOfTask(approval_id)) throw invalid('message.parts: the task does not wait for this approval');
  for (const { approval_id, ...decision } of given.data)
    await decide(service, caller, { ...address, approval_id }, decision, decider);
  return { address, answer: awaitAnswer(service, address) };
}

// The task when it is over or waits for somebody, or as far as it is by then.
export async function finish(service: A2aDeps, { address, answer }: Started) {
  try {
    const settled = await waitForAnswer(service, address, answer);
    if (isWaiting(settled)) return showTask(address, settled, service.clock.now());
    return showTask(address, showReply(settled, address.message_id), Date.parse(settled.created_at));
  } catch (error) {
    if (!agentErrors.includes(error) || !isShown.has(error.code)) throw error;
    return getTask(service, address);
  }
}
const isShown = new Set<string>(['agents.conversation_busy', 'agents.message_dropped']);

export async function getTask(service: A2aDeps, address: Address) {
  const { outcome, atMs } = await readOutcome(service, address);
  return showTask(address, outcome, atMs);
}

export async function cancelTask(service: A2aDeps, address: Address) {
  const before = await readOutcome(service, address);
  if (isOver(before.outcome)) throw new A2aError('TASK_NOT_CANCELABLE', 'The task is over');
  await cancelAnswers(service, address, address.message_id);
  return finish(service, { address, answer: awaitAnswer(service, address) });
}

// The tasks of a context, newest first.
export async function listTasks(service: A2aDeps, { caller, tenant }: Asker, params: ListParams) {
  const {
    contextId,
    status,
    pageSize = 50,
    pageToken,
    statusTimestampAfter: after,
    includeArtifacts,
  } = params;
  if (contextId === undefined || contextId === '')
    throw new A2aError('UNSUPPORTED_OPERATION', 'Name the context whose tasks you want: contextId');
  const { tenant_id } = tenant;
  const key = await resolveChat(service, caller, { tenant_id, conversation_id: contextOf(contextId) });
  const head = await findConversation(service, caller, key);
  const last_seq = pageToken
    ? Number(/^[1-9]\d{0,8}$/.exec(pageToken)?.[0] ?? invalidPage())
    : (head.last_seq ?? 0);
  const from = { ...head, last_seq: Math.min(last_seq, head.last_seq ?? 0) };
  const turns = await readTurns(service, key, from, pageSize, Number.POSITIVE_INFINITY);
  const tasks = turns.toReversed().flatMap(turn =>
    turn.message_ids.map(message_id => {
      const outcome: Outcome = showReply(turn, message_id);
      return { outcome, task: showTask({ ...key, message_id }, outcome, Date.parse(turn.created_at)) };
    }),
  );
  const wanted = tasks
    .filter(({ outcome }) => !isFilter(status) || `TASK_STATE_${stateOf(outcome)}` === status)
    .filter(({ task }) => !after || task.status.timestamp > after)
    .map(({ task: { artifacts, ...task } }) => ({
      ...task,
      ...(includeArtifacts && artifacts ? { artifacts } : {}),
    }));
  const oldest = turns[0]?.seq ?? 0;
  const nextPageToken = turns.length === pageSize && oldest > 1 ? String(oldest - 1) : '';
  return { tasks: wanted, nextPageToken, pageSize, totalSize: head.last_seq ?? 0 };
}

const isFilter = (status: string | undefined): boolean =>
  status !== undefined && status !== '' && status !== 'TASK_STATE_UNSPECIFIED';
function invalidPage(): never {
  throw invalid('pageToken: not one of ours');
}
