import { hashParts } from '@stak/http';
import { type FollowerOptions, isImported, type Subscription, subscribe } from '@stak/streams';
import type { ItemOf } from '@stak/table';
import { mergeExternalWrites } from './conversations/external-writes.ts';
import type { ApprovalRequest, Service, StateDeps } from './deps.ts';
import { approval, conversation, message } from './main-table.ts';
import { changedTools } from './skills/mcp/servers.ts';
import { mcpServer } from './skills/mcp/tables.ts';
import { isExternal } from './state/reads.ts';
import { conversations } from './tables.ts';

// Tells the listeners of this process that a message was answered, or given up.
export const createFollowers = ({ hub }: Pick<Service, 'hub'>): FollowerOptions[] => [
  {
    subscription: subscribe({
      name: 'agents-live',
      table: conversations,
      entities: [message],
      handle(change) {
        if (change.kind !== 'insert') hub.settle(change.new ?? change.old);
      },
    }) as unknown as Subscription,
    hasListeners: () => hub.listeners() > 0,
    listenerAdded: hub.wanted,
    onMissed: hub.settleAll,
  },
];

// Handles changes of a program that knows only the documented item: its messages go into the log, and deleted or
// expired ones are removed from there. Handling a change twice has no further effect.
export const createSubscriptions = (
  service: StateDeps &
    Pick<Service, 'store' | 'clock' | 'askApproval' | 'withdrawApproval' | 'askAboutTools'>,
): Subscription[] => [
  subscribe({
    name: 'agents-documented-item',
    table: conversations,
    entities: [conversation],
    async handle(change) {
      const { old, new: item } = change;
      if (item ? isExternal(item) : old !== undefined) await mergeExternalWrites(service, item ?? old!);
    },
  }) as unknown as Subscription,
  subscribe({
    name: 'agents-mcp-tools',
    table: conversations,
    entities: [mcpServer],
    async handle({ old, new: item }) {
      if (!item || isImported(item)) return;
      const before = new Set(old ? changedTools(old).map(({ hash }) => hash) : []);
      const changed = changedTools(item).filter(({ hash }) => !before.has(hash));
      if (changed.length === 0) return;
      const { tenant_id, name: server } = item;
      const tools = changed.map(({ name }) => name);
      const key = `${tenant_id}.${server}.${changed.map(({ hash }) => hash).join('.')}`;
      await service.askAboutTools({ tenant_id, server, tools, key: hashParts(key) });
    },
  }) as unknown as Subscription,
  // Notifies those who may decide, and withdraws the notice after the decision, the expiry or the deletion. Repeated,
  // it is one message.
  subscribe({
    name: 'agents-approvals',
    table: conversations,
    entities: [approval],
    async handle(change) {
      const { old, new: item } = change;
      if (change.kind === 'insert') {
        if (!isImported(change.new) && (await isWaiting(service, change.new)))
          await service.askApproval(requestOf(change.new));
      } else if (old?.status === 'waiting' && item?.status !== 'waiting')
        await service.withdrawApproval(requestOf(old));
    },
  }) as unknown as Subscription,
];

// A repeated change does not ask again.
const isWaiting = async (
  { store }: Pick<Service, 'store'>,
  item: ItemOf<typeof approval>,
): Promise<boolean> =>
  (await store.get(approval, item, { consistent: true, pattern: 'read an approval' }))?.status === 'waiting';

const requestOf = (item: ItemOf<typeof approval>): ApprovalRequest => ({
  tenant_id: item.tenant_id,
  conversation_id: item.conversation_id,
  approval_id: item.approval_id,
  turn_id: item.turn_id,
  user_id: item.user_id,
  approval: item.approval,
  name: item.name,
  input: JSON.parse(item.input),
  expires_at: item.expires_at,
});
