import { causeOf, endpoint, json, nameSchemas, readsOnly, route, sse } from '@stak/http';
import { AppError } from '@stak/kit';
import { z } from 'zod';
import { followAnswer } from '../chat/event-stream.ts';
import { isWaiting, readOutcome, waitForAnswer } from '../chat/outcome.ts';
import { findConversation } from '../conversations/external-writes.ts';
import { showReply } from '../conversations/views.ts';
import { enteredTenant } from '../deps.ts';
import { noMessage } from '../errors.ts';
import * as limits from '../limits.ts';
import { tenantParams } from '../schema.ts';
import type { Caller } from '../state/access.ts';
import { type Address, parseId } from '../state/answer-ids.ts';
import { readTurns } from '../state/reads.ts';
import { cancelAnswers } from '../turns/cancel.ts';
import { isAccepted, readAnswer } from '../turns/send-message.ts';
import { ask, type OpenAiDeps } from './ask.ts';
import { base, idempotencyKey, openAi, problems } from './chat-routes.ts';
import { refuseField } from './error-shape.ts';
import { type ReadItem, type ResponseRequest, readResponse, responseRequest } from './response-request.ts';
import { responseSink } from './response-stream.ts';
import {
  type Echo,
  itemMessage,
  parseItemId,
  responsePrefix,
  responseShape,
  showResponse,
} from './response-view.ts';

nameSchemas({ ResponseRequest: responseRequest, Response: responseShape });

const params = tenantParams.extend({ response_id: z.string().max(400).describe('The id of a response') });

const create = route({
  ...openAi,
  method: 'post',
  path: `${base}/responses`,
  operationId: 'agents.createResponse',
  reaches: 'model',
  audit: false,
  stores: 'body',
  scope: 'write',
  summary: "Create a response, in OpenAI's protocol",
  description:
    'The same turn of the agent as a chat completion. It is kept like every other conversation, unless `store` is false; then it is kept for a day. `previous_response_id` continues the conversation of a response, which has to be its newest one; `conversation` names one. With `background`, the response is returned before its answer, and `GET …/responses/{response_id}` has it later. Fields that are not listed here are refused.',
  request: { params: tenantParams, headers: idempotencyKey, body: json(responseRequest) },
  responses: {
    200: {
      description: 'The response; with `stream`, its events',
      content: {
        'application/json': { schema: responseShape },
        'text/event-stream': { schema: z.unknown() },
      },
    },
  },
  problems,
  limits: { bodyBytes: limits.messageBodyBytes },
});
const get = route({
  ...openAi,
  ...readsOnly,
  path: `${base}/responses/{response_id}`,
  operationId: 'agents.getResponse',
  scope: 'read',
  summary: "Get a response, in OpenAI's protocol",
  description: 'Returns the response as far as it is. Its request is not repeated.',
  request: { params },
  responses: { 200: json(responseShape) },
  problems: ['agents.conversation_not_found', 'agents.message_not_found'],
});
const cancel = route({
  ...openAi,
  method: 'post',
  path: `${base}/responses/{response_id}/cancel`,
  operationId: 'agents.cancelResponse',
  reaches: 'nothing',
  audit: false,
  stores: 'access', // also in a full account, because an answer costs money
  scope: 'write',
  summary: "Stop a response, in OpenAI's protocol",
  description: 'Stops the answer, as `agents.cancelAnswer` does. An answer that was made stays.',
  request: { params },
  responses: { 200: json(responseShape) },
  problems: ['agents.conversation_not_found', 'agents.message_not_found'],
});

export function createResponseRoutes(service: OpenAiDeps) {
  // Throws if it is not the caller's.
  const find = async (caller: Caller, tenant_id: string, id: string): Promise<Address> => {
    const parsed = parseId(responsePrefix, id);
    if (!parsed) throw noMessage();
    const address = { tenant_id, ...parsed };
    await findConversation(service, caller, address);
    return address;
  };

  const show = async (address: Address) => {
    const { outcome, atMs } = await readOutcome(service, address);
    return showResponse(address, {}, atMs, outcome);
  };

  const itemReader =
    (caller: Caller, tenant_id: string): ReadItem =>
    async id => {
      const parsed = parseItemId(id);
      if (!parsed) return undefined;
      const address = { tenant_id, ...parsed.address };
      const turn = await findConversation(service, caller, address)
        .then(() => readAnswer(service, address))
        .catch(unlessGone);
      return turn && itemMessage(turn, parsed.call);
    };

  // The conversation of the previous response, which has to be its newest one, unless the request is repeated.
  const findPrevious = async (caller: Caller, tenant_id: string, id: string, key: string | undefined) => {
    const refuse = (detail: string) => refuseField(['previous_response_id'], detail);
    const parsed = parseId(responsePrefix, id);
    const head =
      parsed && (await findConversation(service, caller, { tenant_id, ...parsed }).catch(unlessGone));
    if (!head) return refuse('There is no such response');
    const [newest] = await readTurns(service, head, head, 1, Number.POSITIVE_INFINITY);
    const isNewest = newest?.message_ids.includes(parsed.message_id);
    if (!isNewest && !(await isAccepted(service, caller, head, key)))
      refuse('The conversation has gone on: only its newest response can be continued');
    return parsed.conversation_id;
  };

  return [
    endpoint(create, async c => {
      const body = c.req.valid('json');
      const caller = c.get('principal');
      const tenant = enteredTenant(c);
      const { tenant_id } = tenant;
      const { model, stream, background, previous_response_id: previous } = body;
      if (background && stream) refuseField(['stream'], 'A response in the background is not streamed');
      const key = c.req.header('idempotency-key');
      const nowMs = service.clock.now();
      const request = await readResponse(body, itemReader(caller, tenant_id));
      if (previous && request.conversation_id)
        refuseField(['previous_response_id'], 'Send either this or `conversation`');
      if (previous) request.conversation_id = await findPrevious(caller, tenant_id, previous, key);
      const { address, sent } = await ask(service, {
        ...request,
        ...{ caller, tenant, key, model, cause: causeOf(c) },
        user: body.user ?? body.safety_identifier ?? undefined,
        field: 'input',
        isFollowed: stream === true || background === true,
      });
      if (sent.isRepeated) c.header('Idempotency-Replayed', 'true');
      const echo = echoOf(body);
      if (background) return c.json(showResponse(address, echo, nowMs, undefined), 200);
      if (stream) {
        const follow = followAnswer(service, address, sent.outcome);
        return sse(c, {
          subscribe: (_, sink) => follow(undefined, responseSink(sink, { address, echo, nowMs })),
          isPlain: true,
        }) as never;
      }
      const answer = await waitForAnswer(service, address, sent.outcome);
      const outcome = isWaiting(answer) ? answer : showReply(answer, address.message_id);
      return c.json(showResponse(address, echo, nowMs, outcome), 200);
    }),
    endpoint(get, async c => {
      const { tenant_id, response_id } = c.req.valid('param');
      return c.json(await show(await find(c.get('principal'), tenant_id, response_id)), 200);
    }),
    endpoint(cancel, async c => {
      const { tenant_id, response_id } = c.req.valid('param');
      const address = await find(c.get('principal'), tenant_id, response_id);
      await cancelAnswers(service, address, address.message_id);
      const shown = await show(address);
      return c.json(shown.status === 'in_progress' ? { ...shown, status: 'cancelled' as const } : shown, 200);
    }),
  ] as const;
}

const unlessGone = (error: unknown): undefined => {
  if (!(error instanceof AppError) || !/_not_found$|_dropped$/.test(error.code)) throw error;
};

const echoOf = (body: ResponseRequest): Echo => ({
  model: body.model,
  background: body.background ?? false,
  instructions: body.instructions ?? null,
  max_output_tokens: body.max_output_tokens ?? null,
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  previous_response_id: body.previous_response_id ?? null,
  store: body.store ?? true,
  temperature: body.temperature ?? null,
  top_p: body.top_p ?? null,
  text: { format: body.text?.format ?? { type: 'text' } },
  tool_choice: body.tool_choice ?? 'auto',
  tools: body.tools ?? [],
  metadata: body.metadata ?? {},
});
