import { causeOf, endpoint, json, readsOnly, route, sse } from '@stak/http';
import { deciderOf } from '../approvals/decisions.ts';
import { followAnswer } from '../chat/event-stream.ts';
import { readOutcome } from '../chat/outcome.ts';
import { enteredTenant } from '../deps.ts';
import * as limits from '../limits.ts';
import { tenantParams } from '../schema.ts';
import { a2aPath, showCard } from './card.ts';
import { A2aError, answerError, errorShape } from './errors.ts';
import * as methods from './methods.ts';
import { agentCard, paramsOf, type RpcRequest, rpcAnswer, rpcRequest } from './schema.ts';
import { isOver, taskSink } from './task-view.ts';

const shared = {
  auth: 'user',
  endUserScope: 'agents:chat',
  tags: ['agents'] as string[],
  tenant: 'path',
  mcp: false,
} as const;

const card = route({
  ...shared,
  ...readsOnly,
  path: `${a2aPath}/.well-known/agent-card.json`,
  operationId: 'agents.getAgentCard',
  scope: 'read',
  summary: 'Get the A2A card of the agent',
  description:
    'What clients of A2A 1.0 read first. Nobody reads the card of a tenant without a key, so that it does not tell which tenants there are.',
  request: { params: tenantParams },
  responses: { 200: json(agentCard) },
});

const call = route({
  ...shared,
  method: 'post',
  path: a2aPath,
  operationId: 'agents.callA2a',
  reaches: 'model',
  audit: false,
  stores: 'body',
  scope: 'write',
  summary: 'Call the agent, in the A2A protocol',
  description:
    'A2A 1.0 over JSON-RPC: `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and `SubscribeToTask`. A message is a turn of the tenant\'s agent; its task is completed by the answer, and its context is a conversation. A repeated `messageId` is answered once. A task that needs an approval has the state `TASK_STATE_INPUT_REQUIRED`; answer it with a message that names the task and has `{"approval_id", "approved"}` as the data of a part. With an API key, `metadata.user_id` says whose conversation a new one is.',
  request: { params: tenantParams, body: json(rpcRequest) },
  responses: {
    200: {
      description: 'The answer; of the methods that stream, its events',
      content: {
        'application/json': { schema: rpcAnswer },
        'text/event-stream': { schema: rpcAnswer },
      },
    },
  },
  errorShape,
  problems: [
    'agents.conversation_busy',
    'agents.message_dropped',
    'agents.quota_exceeded',
    'agents.spend_exceeded',
    'agents.price_unknown',
    'agents.model_failed',
    'agents.channel_disabled',
    'agents.user_not_found',
  ],
  limits: { bodyBytes: limits.messageBodyBytes },
});

export const createA2aRoutes = (service: methods.A2aDeps) =>
  [
    endpoint(card, c => {
      c.header('Cache-Control', 'private, max-age=300');
      return c.json(showCard(enteredTenant(c), service.publicUrl), 200);
    }),
    endpoint(call, async c => {
      const request = c.req.valid('json');
      const { id = null } = request;
      const caller = c.get('principal');
      const tenant = enteredTenant(c);
      const asker = { caller, tenant, decider: deciderOf(c, caller, tenant.account_id), cause: causeOf(c) };
      const stream = ({ address, answer }: Partial<methods.Started> & Pick<methods.Started, 'address'>) =>
        sse(c, {
          subscribe: (_, sink) =>
            followAnswer(
              service,
              address,
              answer,
            )(
              undefined,
              taskSink(sink, {
                address,
                nowMs: service.clock.now,
                send: result => sink.send({ data: { jsonrpc: '2.0', id, result } }),
              }),
            ),
          isPlain: true,
        }) as never;
      try {
        checkVersion(c.req.header('a2a-version'));
        if (request.method === 'SendStreamingMessage')
          return stream(await methods.start(service, asker, parse('SendMessage', request), true));
        if (request.method === 'SubscribeToTask') {
          const address = await methods.findTask(service, asker, parse('SubscribeToTask', request).id);
          if (isOver((await readOutcome(service, address)).outcome))
            throw new A2aError('UNSUPPORTED_OPERATION', 'The task is over');
          return stream({ address });
        }
        const result = await answer(service, asker, request);
        return c.json({ jsonrpc: '2.0' as const, id, result }, 200);
      } catch (error) {
        const refusal = answerError(id, error);
        if (!refusal) throw error;
        return c.json(refusal, 200);
      }
    }),
  ] as const;

async function answer(service: methods.A2aDeps, asker: methods.Asker, request: RpcRequest): Promise<unknown> {
  const find = (id: string) => methods.findTask(service, asker, id);
  switch (request.method) {
    case 'SendMessage': {
      const params = parse('SendMessage', request);
      const isBackground = params.configuration?.returnImmediately === true;
      const started = await methods.start(service, asker, params, isBackground);
      const task = isBackground
        ? await methods.getTask(service, started.address)
        : await methods.finish(service, started);
      return { task };
    }
    case 'GetTask':
      return methods.getTask(service, await find(parse('GetTask', request).id));
    case 'CancelTask':
      return methods.cancelTask(service, await find(parse('CancelTask', request).id));
    case 'ListTasks':
      return methods.listTasks(service, asker, parse('ListTasks', request));
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
    case 'ListTaskPushNotificationConfigs':
    case 'DeleteTaskPushNotificationConfig':
      throw methods.noPush();
    case 'GetExtendedAgentCard':
      throw new A2aError('UNSUPPORTED_OPERATION', 'There is no extended card');
    default:
      throw new A2aError('METHOD_NOT_FOUND', `There is no method "${request.method}"`);
  }
}

// The field that is wrong, as a path from the request.
function parse<M extends keyof typeof paramsOf>(method: M, { params }: RpcRequest) {
  const parsed = paramsOf[method].safeParse(params ?? {});
  if (parsed.success) return parsed.data as ReturnType<(typeof paramsOf)[M]['parse']>;
  const [issue] = parsed.error.issues;
  throw new A2aError(
    'INVALID_PARAMS',
    `${['params', ...issue!.path.map(String)].join('.')}: ${issue!.message}`,
  );
}

function checkVersion(version: string | undefined): void {
  if (version !== undefined && !/^1(?:\.\d+)?$/.test(version))
    throw new A2aError('VERSION_NOT_SUPPORTED', 'This agent speaks A2A 1.0');
}
