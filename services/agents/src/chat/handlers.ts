import { answerPage, causeOf, endpoint, etagOf, expectedVersion, sse } from '@stak/http';
import { chooseAgent } from '../agents/current.ts';
import { showWaiting } from '../approvals/list.ts';
import {
  createConversationOnce,
  exportConversation,
  importConversation,
  linesOf,
  listConversations,
  listTurns,
  rateTurn,
  renameConversation,
} from '../conversations/conversations.ts';
import { clearConversation, deleteConversation } from '../conversations/deletion.ts';
import { findConversation } from '../conversations/external-writes.ts';
import { showConversation, showListed, showReply, showTurn } from '../conversations/views.ts';
import { enteredTenant, type Service, type TurnDeps } from '../deps.ts';
import { agentErrors, noConversation } from '../errors.ts';
import * as limits from '../limits.ts';
import { resolveChat, resolveUser } from '../state/access.ts';
import type { Message } from '../state/message-format.ts';
import { readHead } from '../state/reads.ts';
import { cancelAnswers } from '../turns/cancel.ts';
import { awaitAnswer, sendMessage } from '../turns/send-message.ts';
import { followAnswer } from './event-stream.ts';
import * as routes from './routes.ts';

const wantsEvents = (accept: string | undefined): boolean => /\btext\/event-stream\b/.test(accept ?? '');

export const createConversationRoutes = (
  service: TurnDeps & Pick<Service, 'isStoreLocal' | 'countMessage'>,
) =>
  [
    endpoint(routes.create, async c => {
      const caller = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const { conversation_id, title, user_id, agent, agent_version, variables } = c.req.valid('json');
      if (caller.kind === 'endUser' && variables !== undefined)
        throw agentErrors.create('agents.agent_refused', 'Only the host can set variables.');
      const values = variables && JSON.stringify(variables);
      if (values !== undefined && Buffer.byteLength(values) > limits.variablesBytes)
        throw agentErrors.create(
          'agents.agent_refused',
          `The variables have more than ${limits.variablesBytes} bytes.`,
        );
      const chosenAgent = await chooseAgent(service, caller, enteredTenant(c), { agent, agent_version });
      // An end user could otherwise find out which ids exist.
      const chosen = caller.kind === 'account' ? conversation_id : undefined;
      const ids = c.get('ids');
      const key = { tenant_id, conversation_id: chosen ?? ids.next('conv') };
      const draft = {
        ...{ title, user_id: resolveUser(caller, user_id), variables: values },
        ...chosenAgent,
      };
      const head = await createConversationOnce(service, key, draft, ids.next());
      c.header('Location', `/v1/tenants/${tenant_id}/conversations/${key.conversation_id}`);
      c.header('ETag', etagOf(head.version));
      return c.json(showConversation(head), 201);
    }),
    endpoint(routes.list, async c => {
      const caller = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const query = c.req.valid('query');
      const read = listConversations.bind(null, service, tenant_id, resolveUser(caller, query.user_id));
      return c.json(await answerPage(caller, query, read, showListed), 200);
    }),
    endpoint(routes.get, async c => {
      const caller = c.get('principal');
      const head = await findConversation(service, caller, c.req.valid('param'));
      c.header('ETag', etagOf(head.version));
      return c.json(showConversation(head), 200);
    }),
    endpoint(routes.rename, async c => {
      const caller = c.get('principal');
      const key = c.req.valid('param');
      const { title } = c.req.valid('json');
      const head = await renameConversation(service, caller, key, title, expectedVersion(c));
      c.header('ETag', etagOf(head.version));
      return c.json(showConversation(head), 200);
    }),
    endpoint(routes.remove, async c => {
      const caller = c.get('principal');
      const key = c.req.valid('param');
      const { user_id } = await findConversation(service, caller, key);
      await deleteConversation(service, key, user_id);
      return c.body(null, 204);
    }),
    endpoint(routes.clear, async c => {
      const caller = c.get('principal');
      const key = c.req.valid('param');
      const { user_id } = await findConversation(service, caller, key);
      await clearConversation(service, key, user_id);
      return c.body(null, 204);
    }),
    endpoint(routes.cancel, async c => {
      const caller = c.get('principal');
      const key = c.req.valid('param');
      const head = await findConversation(service, caller, await resolveChat(service, caller, key));
      return c.json({ cancelled: await cancelAnswers(service, head) }, 200);
    }),
    endpoint(routes.turns, async c => {
      const caller = c.get('principal');
      const head = await findConversation(service, caller, c.req.valid('param'));
      const { order, ...query } = c.req.valid('query');
      const newestFirst = order === 'newest';
      const page = await answerPage(
        caller,
        query,
        request => listTurns(service, head, { ...request, newestFirst }),
        turn => showTurn(turn, caller),
      );
      return c.json(page, 200);
    }),
    endpoint(routes.send, async c => {
      const caller = c.get('principal');
      const { tenant_id, conversation_id } = c.req.valid('param');
      const tenant = enteredTenant(c);
      const { content, user_id, agent } = c.req.valid('json');
      const key = c.req.header('idempotency-key');
      const meant = resolveUser(caller, user_id);
      const sent = await sendMessage(service, {
        caller,
        tenant,
        conversation_id,
        content,
        user_id: meant,
        agent: { agent },
        key,
        cause: causeOf(c),
        isFollowed: wantsEvents(c.req.header('accept')),
      });
      const address = { tenant_id, conversation_id, message_id: sent.message_id };
      if (sent.isRepeated) c.header('Idempotency-Replayed', 'true');
      if (wantsEvents(c.req.header('accept'))) {
        const follow = followAnswer(service, address, sent.outcome);
        return sse(c, { subscribe: follow }) as never;
      }
      const turn = await sent.outcome;
      if (turn) return c.json(showReply(turn, sent.message_id), 200);
      c.header(
        'Location',
        `/v1/tenants/${tenant_id}/conversations/${conversation_id}/messages/${sent.message_id}`,
      );
      return c.json(await showWaiting(service, address), 202);
    }),
    endpoint(routes.answer, async c => {
      const caller = c.get('principal');
      const address = c.req.valid('param');
      await findConversation(service, caller, address);
      if (wantsEvents(c.req.header('accept')))
        return sse(c, { subscribe: followAnswer(service, address) }) as never;
      const turn = await awaitAnswer(service, address);
      if (turn) return c.json(showReply(turn, address.message_id), 200);
      return c.json(await showWaiting(service, address), 202);
    }),
    endpoint(routes.rate, async c => {
      const caller = c.get('principal');
      const { seq, ...key } = c.req.valid('param');
      const head = await findConversation(service, caller, key);
      const rated = await rateTurn(service, caller.kind, head, seq, c.req.valid('json'));
      return c.json(showTurn(rated, caller), 200);
    }),
    endpoint(routes.download, async c => {
      const caller = c.get('principal');
      const head = await findConversation(service, caller, c.req.valid('param'));
      const name = `${head.conversation_id.replace(/[^A-Za-z0-9_-]/g, '_')}.ndjson`;
      return c.body(linesOf(exportConversation(service, caller, head)), 200, {
        'Content-Type': 'application/x-ndjson',
        'Content-Disposition': `attachment; filename="${name}"`,
      }) as never;
    }),
    endpoint(routes.upload, async c => {
      const caller = c.get('principal');
      const { tenant_id, settings } = enteredTenant(c);
      const { conversation_id, title, user_id, messages } = c.req.valid('json');
      // A model trusts a system message as the host's.
      if (caller.kind === 'endUser' && messages.some(({ role }) => role === 'system'))
        throw agentErrors.create('agents.import_refused', 'Only the host can import system messages.');
      const chosen = caller.kind === 'account' ? conversation_id : undefined;
      const ids = c.get('ids');
      const key = { tenant_id, conversation_id: chosen ?? ids.next('conv') };
      const draft = {
        ...{ title, user_id: resolveUser(caller, user_id) },
        ...(await chooseAgent(service, caller, enteredTenant(c), {})),
      };
      await importConversation(service, key, draft, {
        messages: messages as Message[],
        mostMessages: settings.max_conversation_history,
        creation_id: ids.next(),
      });
      const head = await readHead(service, key);
      if (!head) throw noConversation();
      c.header('Location', `/v1/tenants/${tenant_id}/conversations/${key.conversation_id}`);
      c.header('ETag', etagOf(head.version));
      return c.json(showConversation(head), 201);
    }),
  ] as const;
