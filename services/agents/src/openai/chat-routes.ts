import { causeOf, endpoint, json, nameSchemas, route, sse } from '@stak/http';
import { z } from 'zod';
import { followAnswer } from '../chat/event-stream.ts';
import { waitForAnswer } from '../chat/outcome.ts';
import { enteredTenant } from '../deps.ts';
import * as limits from '../limits.ts';
import { tenantParams } from '../schema.ts';
import { ask, type OpenAiDeps } from './ask.ts';
import { chatRequest, readChat } from './chat-request.ts';
import { chatCompletion, chunkSink, showCompletion } from './chat-response.ts';
import { errorShape } from './error-shape.ts';

nameSchemas({ ChatCompletionRequest: chatRequest, ChatCompletion: chatCompletion });

export const openAi = {
  auth: 'user',
  endUserScope: 'agents:chat',
  tags: ['agents'] as string[],
  tenant: 'path',
  mcp: false,
  errorShape,
} as const;
export const base = '/v1/tenants/{tenant_id}/openai/v1';

export const idempotencyKey = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters')
    .optional()
    .describe('A request that is sent again with its key is answered once'),
});
export const problems = [
  'agents.model_not_found',
  'agents.conversation_not_found',
  'agents.conversation_busy',
  'agents.conversation_cleared',
  'agents.conversation_exists',
  'agents.import_refused',
  'agents.message_dropped',
  'agents.quota_exceeded',
  'agents.spend_exceeded',
  'agents.price_unknown',
  'agents.model_failed',
  'agents.channel_disabled',
  'agents.user_not_found',
  'http.idempotency_mismatch',
];

const create = route({
  ...openAi,
  method: 'post',
  path: `${base}/chat/completions`,
  operationId: 'agents.createChatCompletion',
  reaches: 'model',
  audit: false,
  stores: 'body',
  scope: 'write',
  summary: "Create a chat completion, in OpenAI's protocol",
  description:
    "For OpenAI's clients, with `https://…/v1/tenants/{tenant_id}/openai/v1` as the base URL. The answer is a turn of the tenant's agent, with its instructions, skills, memory and budget. Without `metadata.conversation_id` the caller keeps the conversation and sends all of it; here it is kept for a day, or like every other if `store` is true. With it, only what follows the last answer is read. Functions of the host take the place of skills with the same name; those of users are refused. A call that needs an approval ends the completion, and the answer continues after the decision. Fields that are not listed here are refused.",
  request: { params: tenantParams, headers: idempotencyKey, body: json(chatRequest) },
  responses: {
    200: {
      description: 'The completion; with `stream`, its chunks',
      content: {
        'application/json': { schema: chatCompletion },
        'text/event-stream': { schema: z.unknown() },
      },
    },
  },
  problems,
  limits: { bodyBytes: limits.messageBodyBytes },
});

export const createChatRoutes = (service: OpenAiDeps) =>
  [
    endpoint(create, async c => {
      const body = c.req.valid('json');
      const { model, stream, stream_options, user, safety_identifier } = body;
      const nowMs = service.clock.now();
      const { address, sent } = await ask(service, {
        ...readChat(body),
        caller: c.get('principal'),
        tenant: enteredTenant(c),
        key: c.req.header('idempotency-key'),
        cause: causeOf(c),
        model,
        user: user ?? safety_identifier ?? undefined,
        field: 'messages',
        isFollowed: stream === true,
      });
      if (sent.isRepeated) c.header('Idempotency-Replayed', 'true');
      if (stream) {
        const follow = followAnswer(service, address, sent.outcome);
        const shown = { address, model, nowMs, includesUsage: stream_options?.include_usage === true };
        return sse(c, {
          subscribe: (_, sink) => follow(undefined, chunkSink(sink, shown)),
          isPlain: true,
        }) as never;
      }
      const answer = await waitForAnswer(service, address, sent.outcome);
      return c.json(showCompletion(address, model, nowMs, answer), 200);
    }),
  ] as const;
