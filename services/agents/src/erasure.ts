import { type ItemOf, isRefused, type WriteStep, write } from '@stak/table';
import { agentVersion, definitionsOfTenant, namedAgent } from './agents/tables.ts';
import { showApproval } from './approvals/views.ts';
import {
  channelSecrets,
  channelsOfTenant,
  notice,
  noticesOfTenant,
  tenantChannel,
} from './channels/tables.ts';
import { exportConversation } from './conversations/conversations.ts';
import { deleteConversation } from './conversations/deletion.ts';
import type { Service, StateDeps } from './deps.ts';
import * as limits from './limits.ts';
import {
  accountDay,
  agentDay,
  approvalsOfConversation,
  conversationsOfUser,
  counted,
  creation,
  daysOfAccount,
  daysOfUser,
  headsOfTenant,
  messagesOfConversation,
  tenantDay,
  usageOfTenant,
  userDay,
} from './main-table.ts';
import { eraseForgotten } from './memory/forgotten.ts';
import { declineMemory, factsOf } from './memory/memory.ts';
import {
  choicesOfTenant,
  factVector,
  forgotten,
  forgottenOfTenant,
  memoriesOfTenant,
  memoriesOfUser,
  memory,
  memoryChoice,
} from './memory/tables.ts';
import { mcpServer, mcpServersOfTenant } from './skills/mcp/tables.ts';
import { customSkill, skillsOfTenant } from './skills/tables.ts';
import { type ConversationKey, keyOfConversation } from './state/lease.ts';
import { readPaused } from './state/paused.ts';
import { readHead } from './state/reads.ts';

type Erased = 'done' | 'more';

// Conversations are deleted like by a request: unreadable at once, and removed by the worker within seconds after the
// job is done.
export function createEraser(service: StateDeps & Pick<Service, 'store' | 'clock'>) {
  return {
    name: 'agents',
    eraseUser: (tenantId: string, userId: string) => eraseUser(service, tenantId, userId),
    eraseTenant: (tenantId: string) => eraseTenant(service, tenantId),
    eraseAccount: (accountId: string) => eraseAccount(service, accountId),
    exportUser: (tenantId: string, userId: string) => exportUser(service, tenantId, userId),
  };
}

const page = { limit: limits.purgeTogether };

async function eraseUser(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  tenant_id: string,
  user_id: string,
): Promise<Erased> {
  const { store } = service;
  const { items } = await store.query(conversationsOfUser, { tenant_id, user_id }, page);
  let deleted = 0;
  for (const key of items) {
    // The index may be out of date: what it lists may be deleted, or belong to another user now.
    if ((await readHead(service, key))?.user_id !== user_id) continue;
    await deleteConversation(service, key);
    if (++deleted === limits.erasedTogether) break;
  }
  if (deleted > 0) return 'more';
  await declineMemory(service, { tenant_id, user_id });
  await store.delete(memoryChoice, { tenant_id, user_id });
  await eraseForgotten(service, { tenant_id, user_id });
  const days = await store.query(daysOfUser, { tenant_id, user_id }, page);
  await store.batchWrite(
    days.items.map(item => write.delete(userDay, item)),
    { pattern: 'erase a user' },
  );
  return days.cursor === undefined ? 'done' : 'more';
}

async function eraseTenant(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  tenant_id: string,
): Promise<Erased> {
  const { store } = service;
  const few = { limit: limits.erasedTogether };
  const heads = await store.query(headsOfTenant, { tenant_id }, few);
  for (const head of heads.items) await deleteConversation(service, head);
  if (heads.items.length > 0) return 'more';
  const found = await Promise.all([
    readUsagePage(service, tenant_id),
    store.query(memoriesOfTenant, { tenant_id }, page),
    store.query(choicesOfTenant, { tenant_id }, page),
    store.query(skillsOfTenant, { tenant_id }, page),
    store.query(channelsOfTenant, { tenant_id }, page),
    store.query(noticesOfTenant, { tenant_id }, page),
    store.query(mcpServersOfTenant, { tenant_id }, page),
    store.query(definitionsOfTenant, { tenant_id }, page),
    store.query(forgottenOfTenant, { tenant_id }, page),
  ]);
  const [usage, memories, choices, skills, channels, notices, mcpServers, agents, forgottenTexts] = found;
  for (const channel of channels.items) await eraseSecrets(service, channel);
  const steps = [
    ...usage.items.map(deleteDay),
    ...memories.items.map(item => write.delete(memory, item)),
    ...memories.items.flatMap(item =>
      factsOf(item).map(({ fact_id }) => write.delete(factVector, { ...item, fact_id })),
    ),
    ...choices.items.map(item => write.delete(memoryChoice, item)),
    ...skills.items.map(item => write.delete(customSkill, item)),
    ...channels.items.map(item => write.delete(tenantChannel, item)),
    ...mcpServers.items.map(item => write.delete(mcpServer, item)),
    ...agents.items.map(found =>
      found.entity === 'agent'
        ? write.delete(namedAgent, found.item)
        : write.delete(agentVersion, found.item),
    ),
    ...forgottenTexts.items.map(item => write.delete(forgotten, item)),
    ...notices.items.map(item => write.delete(notice, item)),
    ...counted.map(of => write.delete(creation, { tenant_id, of })),
  ];
  await store.batchWrite(steps, { pattern: 'erase a tenant' });
  return found.some(({ cursor }) => cursor !== undefined) ? 'more' : 'done';
}

type Usage = Awaited<ReturnType<typeof readUsagePage>>['items'][number];
const readUsagePage = ({ store }: Pick<Service, 'store'>, tenant_id: string) =>
  store.query(usageOfTenant, { tenant_id }, page);

function deleteDay(day: Usage): WriteStep {
  if (day.entity === 'usage of a day') return write.delete(tenantDay, day.item);
  return day.entity === "usage of a user's day"
    ? write.delete(userDay, day.item)
    : write.delete(agentDay, day.item);
}

async function eraseAccount({ store }: Pick<Service, 'store'>, account_id: string): Promise<Erased> {
  const { items, cursor } = await store.query(daysOfAccount, { account_id }, page);
  await store.batchWrite(
    items.map(item => write.delete(accountDay, item)),
    { pattern: 'erase an account' },
  );
  return cursor === undefined ? 'done' : 'more';
}

// Another tenant may have claimed the channel since, with secrets of its own.
const eraseSecrets = (
  { store }: Pick<Service, 'store'>,
  { tenant_id, type, channel_id }: ItemOf<typeof tenantChannel>,
) =>
  store.delete(channelSecrets, { type, channel_id }, { if: { tenant_id } }).catch(error => {
    if (!isRefused(error)) throw error;
  });

// Exports messages that are in no turn yet, and pending approvals.
async function* exportUnfinished(
  service: Pick<Service, 'store'>,
  head: ConversationKey,
): AsyncGenerator<{ kind: string; item: unknown }> {
  const { store } = service;
  const key = keyOfConversation(head);
  for await (const { status, message_id, content, channel, accepted_at } of store.all(
    messagesOfConversation,
    key,
  ))
    if (status === 'waiting')
      yield { kind: 'waiting message', item: { message_id, content, channel, accepted_at } };
  const paused = await readPaused(service, key);
  if (paused) {
    const { turn_id, messages, calls, created_at } = paused;
    yield { kind: 'paused turn', item: { turn_id, messages, calls, created_at } };
  }
  for await (const item of store.all(approvalsOfConversation, key))
    yield { kind: 'approval', item: showApproval(item) };
}

async function* exportUser(
  service: Pick<Service, 'store'>,
  tenant_id: string,
  user_id: string,
): AsyncGenerator<{ kind: string; item: unknown }> {
  const { store } = service;
  for await (const key of store.all(conversationsOfUser, { tenant_id, user_id })) {
    const head = await readHead(service, key);
    if (head?.user_id !== user_id) continue;
    yield* exportConversation(service, { kind: 'account' }, head); // everything, as an erasure removes it
    yield* exportUnfinished(service, head);
  }
  for await (const item of store.all(memoriesOfUser, { tenant_id, user_id })) yield { kind: 'memory', item };
  const choice = await store.get(memoryChoice, { tenant_id, user_id }, { consistent: true });
  if (choice) yield { kind: 'memory choice', item: choice };
  for await (const item of store.all(daysOfUser, { tenant_id, user_id })) yield { kind: 'agent usage', item };
}
