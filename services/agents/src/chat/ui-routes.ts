import {
  causeOf,
  type EventSink,
  empty,
  endpoint,
  json,
  type PrincipalOf,
  readsOnly,
  route,
  sse,
} from '@stak/http';
import { z } from 'zod';
import { type Decider, decide, deciderOf } from '../approvals/decisions.ts';
import { findConversation } from '../conversations/external-writes.ts';
import { enteredTenant, type Service, type TurnDeps } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import * as schema from '../schema.ts';
import { resolveChat, resolveUser } from '../state/access.ts';
import { type ConversationKey, readState } from '../state/lease.ts';
import { readPaused } from '../state/paused.ts';
import { readHead, readMessages, readWaiting } from '../state/reads.ts';
import type { TurnItem } from '../state/turn-items.ts';
import { cancelAnswers } from '../turns/cancel.ts';
import { sendMessage } from '../turns/send-message.ts';
import { followAnswer } from './event-stream.ts';
import { uiSink, uiStreamHeader } from './ui-stream.ts';

// For `useChat` of the AI SDK, with `api: '/v1/tenants/…/conversations/…/ui'` and no other settings.

const user = {
  auth: 'user',
  endUserScope: 'agents:chat',
  tags: ['agents'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const problems = ['agents.conversation_not_found'];
const one = '/v1/tenants/{tenant_id}/conversations/{conversation_id}';
const params = schema.conversationParams;

// Clients send all messages of the chat, and other fields. The history is stored here; only the last message is read.
const name = z.string().max(255);
const uiPart = z.looseObject({
  type: name.describe('The type of the part, such as `text`.'),
  text: z.string().max(limits.importBodyBytes).optional().describe('The text of the part.'),
  state: name.optional().describe('The state of the tool call.'),
  approval: z.unknown().optional().describe('The decision about the tool call, as the AI SDK writes it.'),
});
// `addToolApprovalResponse` writes this into the part of a tool.
const uiApproval = z.looseObject({
  id: name,
  approved: z.boolean(),
  reason: z.string().max(limits.approvalReasonChars).optional(),
});
const uiMessage = z.looseObject({
  id: name.describe('The id of the message.'),
  role: name.describe('Who wrote the message, such as `user`.'),
  parts: z
    .array(uiPart)
    .max(limits.uiParts)
    .describe('The parts of the message. Text parts and tool approvals are read; files are refused.'),
});

// The messages that are read. The others are not even checked: there may be thousands.
function lastMessages(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  const question = messages.findLastIndex(message => message?.role === 'user');
  return messages.filter((_, i) => i === question || i === messages.length - 1);
}

const uiRequest = z.looseObject({
  messages: z
    .preprocess(lastMessages, z.array(uiMessage).min(1))
    .describe('The messages of the chat. Only the last is read.'),
  trigger: name
    .optional()
    .describe('`submit-message`, or `regenerate-message` to ask the last question again.'),
  user_id: schema.userId.optional().describe('The user of a new conversation. For hosts only.'),
  agent: schema.newMessage.shape.agent,
  cancel_on_disconnect: z
    .boolean()
    .optional()
    .describe(
      'Stops the answer when the client closes the stream, as `stop()` of `useChat` does. Without it, the answer continues, and can be followed again.',
    ),
});

const chunks = {
  description: 'The UI message stream of the AI SDK',
  content: { 'text/event-stream': { schema: z.unknown() } },
};

const routes = {
  send: route({
    ...user,
    method: 'post',
    path: `${one}/ui`,
    operationId: 'agents.sendUiMessage',
    reaches: 'model',
    audit: false,
    stores: 'body',
    scope: 'write',
    summary: "Send a message in the AI SDK's protocol",
    description:
      'For `useChat`. Sends the last message of the user; its id prevents duplicates. `regenerate-message` sends it again, and the new answer replaces the last one, unless that called skills which act. The id of a chat that an end user has chosen is theirs: the conversation is created with the first message, and its own id is `conversation_id` in the metadata of the answer. If the last message is an answer with tool approvals, they are applied and the answer continues. The stream ends when a tool needs an approval.',
    request: { params, body: json(uiRequest) },
    responses: { 200: chunks },
    problems: [
      ...problems,
      'agents.message_refused',
      'agents.conversation_busy',
      'agents.quota_exceeded',
      'agents.channel_disabled',
      'agents.approval_not_found',
      'agents.approval_not_yours',
      'agents.approval_decided',
      'agents.user_not_found',
      'agents.agent_not_found',
      'agents.agent_not_published',
      'http.idempotency_mismatch',
    ],
    limits: { bodyBytes: limits.importBodyBytes },
  }),
  resume: route({
    ...user,
    ...readsOnly,
    path: `${one}/stream`,
    operationId: 'agents.resumeUiStream',
    scope: 'read',
    summary: 'Resume the stream of an answer in progress',
    description: 'Starts from the beginning, as `useChat` expects. Returns 204 if no answer is in progress.',
    request: { params },
    responses: { 200: chunks, 204: empty() },
    problems,
  }),
  // The default URL of the AI SDK: below the one that messages are sent to.
  resumeByDefault: route({
    ...user,
    ...readsOnly,
    path: `${one}/ui/{chat_id}/stream`,
    operationId: 'agents.resumeUiChat',
    scope: 'read',
    summary: 'Resume the stream, at the address that the AI SDK uses by default',
    description: 'The same as `…/stream`, under the URL that messages are sent to.',
    request: {
      params: params.extend({ chat_id: name.describe('The id of the chat in the AI SDK. Ignored.') }),
    },
    responses: { 200: chunks, 204: empty() },
    problems,
  }),
};

type Body = z.infer<typeof uiRequest>;
type Followed = { outcome?: Promise<TurnItem | undefined>; continued?: Answered };

type Question = { content: string; key: string | undefined; regenerates: boolean };

function lastQuestion({ messages, trigger }: Body): Question {
  const last = messages.findLast(({ role }) => role === 'user');
  // An answer about a file that the model has never seen would be made up.
  if (last?.parts.some(({ type }) => type === 'file'))
    throw agentErrors.create(
      'agents.message_refused',
      'Files cannot be sent: the message has a part of the type `file`. Send its text.',
    );
  const text = (last?.parts ?? [])
    .flatMap(part => (part.type === 'text' ? [part.text ?? ''] : []))
    .join('\n');
  const content = schema.newMessage.shape.content.safeParse(text);
  if (!last || !content.success) {
    const why = content.error?.issues[0]?.message ?? 'there is no message of the user';
    throw agentErrors.create('agents.message_refused', `The last message cannot be sent: ${why}.`);
  }
  const regenerates = trigger === 'regenerate-message';
  const key = regenerates || last.id === '' ? undefined : `ui ${last.id}`;
  return { content: content.data, key, regenerates };
}

type Answered = { messageId: string; decisions: z.infer<typeof uiApproval>[] };

// Approvals that the user has decided since the last request; undefined if there is a new message instead.
function lastDecisions({ messages, trigger }: Body): Answered | undefined {
  const last = messages.at(-1)!;
  if (last.role !== 'assistant' || trigger === 'regenerate-message') return undefined;
  const decisions = last.parts.flatMap(({ state, approval }) => {
    const parsed = uiApproval.safeParse(approval);
    return state === 'approval-responded' && parsed.success ? [parsed.data] : [];
  });
  return decisions.length === 0 ? undefined : { messageId: last.id, decisions };
}

// The newest message without an answer. One that waits for an approval comes first.
async function findRunning(service: Pick<Service, 'store'>, key: ConversationKey) {
  const state = await readState(service, key);
  if (!state) return undefined;
  const paused = state.paused === undefined ? undefined : await readPaused(service, key);
  const waiting = await (paused
    ? readMessages(service, key, paused.message_ids)
    : readWaiting(service, state));
  return waiting.at(-1);
}

export function createUiRoutes(
  service: TurnDeps & Pick<Service, 'roleOf' | 'audit' | 'isStoreLocal' | 'countMessage'>,
) {
  const resume = async (caller: PrincipalOf<'user'>, chat: ConversationKey) => {
    const key = await resolveChat(service, caller, chat);
    if (key !== chat && !(await readHead(service, key))) return undefined; // a chat that has not begun
    await findConversation(service, caller, key);
    const running = await findRunning(service, key);
    return running && followAnswer(service, running);
  };

  // One by one, so that repeating them is safe. Returns the message whose answer continues.
  const decideAll = async (
    key: ConversationKey,
    caller: PrincipalOf<'user'>,
    { decisions }: Answered,
    decider: Decider,
  ) => {
    await findConversation(service, caller, key);
    let message_id = '';
    for (const { id: approval_id, approved, reason } of decisions)
      ({ message_id } = await decide(
        service,
        caller,
        { ...key, approval_id },
        { approved, reason },
        decider,
      ));
    return { ...key, message_id };
  };

  // Follows an answer, and stops it if the client is gone before its end and wants that.
  const subscriber =
    (address: ConversationKey & { message_id: string }, body: Body, given: Followed) =>
    async (_: unknown, sink: EventSink): Promise<void> => {
      const leave = () => {
        if (sink.signal.reason !== 'gone' || !body.cancel_on_disconnect) return;
        cancelAnswers(service, address, address.message_id).catch(error =>
          service.log.warn({ err: error }, 'an answer was not stopped when its client left'),
        );
      };
      sink.signal.addEventListener('abort', leave, { once: true });
      const follow = followAnswer(service, address, given.outcome);
      await follow(undefined, uiSink(sink, given.continued));
    };

  return [
    endpoint(routes.send, async c => {
      const caller = c.get('principal');
      const { tenant_id, conversation_id: chat_id } = c.req.valid('param');
      const body = c.req.valid('json');
      const tenant = enteredTenant(c);
      const { conversation_id } = await resolveChat(service, caller, { tenant_id, conversation_id: chat_id });
      const answered = lastDecisions(body);
      if (answered) {
        const address = await decideAll(
          { tenant_id, conversation_id },
          caller,
          answered,
          deciderOf(c, caller, tenant.account_id),
        );
        c.header(...uiStreamHeader);
        const subscribe = subscriber(address, body, { continued: answered });
        return sse(c, { subscribe, namesEnd: false }) as never;
      }
      const { content, key, regenerates } = lastQuestion(body);
      const user_id = resolveUser(caller, body.user_id);
      const { message_id, outcome } = await sendMessage(service, {
        ...{ caller, tenant, conversation_id, content, user_id, key, cause: causeOf(c) },
        ...{ isFollowed: true, regenerates, creates: true, agent: { agent: body.agent } },
      });
      c.header(...uiStreamHeader);
      const subscribe = subscriber({ tenant_id, conversation_id, message_id }, body, { outcome });
      return sse(c, { subscribe, namesEnd: false }) as never;
    }),
    ...([routes.resume, routes.resumeByDefault] as const).map(one =>
      endpoint(one as typeof routes.resume, async c => {
        const { tenant_id, conversation_id } = c.req.valid('param');
        const follow = await resume(c.get('principal'), { tenant_id, conversation_id });
        if (!follow) return c.body(null, 204);
        c.header(...uiStreamHeader);
        return sse(c, {
          subscribe: (_, sink) => follow(undefined, uiSink(sink)),
          namesEnd: false,
        }) as never;
      }),
    ),
  ] as const;
}
