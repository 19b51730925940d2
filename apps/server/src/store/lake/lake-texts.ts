import { accountsWithTexts } from '@stak/accounts/tables';
import { conversation, type turn } from '@stak/agents/tables';
import { createRecentMap } from '@stak/kit';
import type { Owner, Texts } from '@stak/lake/maintenance';
import type { Attributes, ItemOf, Store } from '@stak/table';
import { tenant } from '@stak/tenants/tables';
import { findOwnerOfSource, type Payload, payload } from '@stak/webhooks/tables';

// Finds the owner of a conversation's turn or a webhook's body, and whether that account wants it in the lake. The
// items themselves do not contain it. Reads only tables, so that a thread without services can use it.

type Turn = ItemOf<typeof turn>;

const cacheSize = 10_000; // sources and tenants that are cached: their owner never changes

export function createTexts(store: Store): Texts {
  const accounts = createRecentMap<string, string>(cacheSize);

  async function accountOf(
    key: string,
    find: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const before = accounts.get(key);
    if (before !== undefined) return before;
    const owner = await find();
    if (owner !== undefined) accounts.set(key, owner);
    return owner;
  }

  const accountOfSource = (sourceId: string) =>
    accountOf(`source ${sourceId}`, () => findOwnerOfSource(store, sourceId));
  const accountOfTenant = (tenant_id: string) =>
    accountOf(`tenant ${tenant_id}`, async () => (await store.get(tenant, { tenant_id }))?.account_id);

  // Undefined if the conversation is gone: its turns are removed too.
  async function speakerOf({ tenant_id, conversation_id }: Turn): Promise<Owner | undefined> {
    const storedConversation = await store.get(
      conversation,
      { tenant_id, conversation_id },
      { consistent: true },
    );
    return (
      storedConversation && {
        tenant_id,
        ...(storedConversation.user_id !== undefined && { user_id: storedConversation.user_id }),
      }
    );
  }

  return {
    async read() {
      const since = new Map<string, number>();
      for await (const { accountId, sinceMs } of store.all(accountsWithTexts, {}))
        since.set(accountId, sinceMs);
      const isWanted = (accountId: string | undefined, atMs: number): boolean | 'off' => {
        if (accountId === undefined) return false;
        const sinceMs = since.get(accountId);
        return sinceMs === undefined ? 'off' : atMs >= sinceMs;
      };
      return {
        isAnyOn: since.size > 0,
        async whose(entity: string, item: Attributes) {
          if (entity === payload.name) {
            const { sourceId, receivedAt } = item as Payload;
            const account_id = await accountOfSource(sourceId);
            const wanted = isWanted(account_id, receivedAt);
            return wanted === 'off' ? 'off' : wanted ? { account_id } : 'unknown';
          }
          const turn = item as Turn;
          const wanted = isWanted(await accountOfTenant(turn.tenant_id), Date.parse(turn.created_at));
          return wanted === 'off' ? 'off' : (wanted && (await speakerOf(turn))) || 'unknown';
        },
      };
    },
  };
}
