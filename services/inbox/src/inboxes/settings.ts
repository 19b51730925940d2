import { versionMismatch } from '@stak/http';
import { readTogether } from '@stak/kit';
import { createWithin, done, type ItemOf, type Store, tableErrors, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { inboxErrors, inboxNotFound } from '../errors.ts';
import { type InboxId, inboxText } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { checkSchema } from '../publish/message-rules.ts';
import type { InboxBody } from '../schema.ts';
import { inboxCategories, inboxConfig, inboxCreation, inboxesOfTenant, tenantSettings } from '../tables.ts';

export type InboxConfig = ItemOf<typeof inboxConfig>;
export type TenantSettings = ItemOf<typeof tenantSettings>;

// The author, and the version they expect; any version if undefined.
type Edit = { by: string; version?: number };

export const readTenantSettings = ({ store }: Deps, tenant_key: string) =>
  store.get(tenantSettings, { tenant_key }, { consistent: true });

export function writeTenantSettings(
  deps: Deps,
  tenant_key: string,
  body: { title: string; ttl?: string },
  { by, version }: Edit,
): Promise<TenantSettings> {
  const { store } = deps;
  return edit(deps, version, async () => {
    const found = await readTenantSettings(deps, tenant_key);
    const guard = guardOf(found?.version, version);
    return store.put(tenantSettings, { tenant_key, ...body, uid: by }, guard);
  });
}

export async function readInbox({ store }: Deps, inbox: InboxId): Promise<InboxConfig> {
  const found = await store.get(inboxConfig, inbox, { consistent: true });
  if (!found || found.erasing) throw inboxNotFound();
  return found;
}

export async function writeInbox(
  deps: Deps,
  inbox: InboxId,
  body: InboxBody,
  { by, version }: Edit,
): Promise<InboxConfig> {
  const { store } = deps;
  if (body.schema) checkSchema(body.schema);
  return edit(deps, version, async () => {
    const found = await store.get(inboxConfig, inbox, { consistent: true });
    if (found?.erasing)
      throw inboxErrors.create(
        'inbox.being_erased',
        'An inbox with this key is being deleted. Try again later.',
      );
    const item = { ...inbox, ...body, uid: by };
    if (found || version !== undefined) return store.put(inboxConfig, item, guardOf(found?.version, version));
    const { tenant_key } = inbox;
    return createWithin(store, inboxCreation, {
      key: { tenant_key },
      mark: () => ({ tenant_key }),
      check: () => checkRoom(deps, tenant_key),
      async create(step) {
        const made = write.put(inboxConfig, item, { ifAbsent: true });
        await store.transact({ made, ...step }, { pattern: 'create inbox' });
        return { ...item, kind: 'IC' as const, version: 1 };
      },
    });
  });
}

export const listInboxes = ({ store }: Deps, tenant_key: string): AsyncGenerator<InboxConfig> =>
  store.all(inboxesOfTenant, { tenant_key });

async function checkRoom(deps: Deps, tenant_key: string): Promise<void> {
  let count = 0;
  for await (const _ of listInboxes(deps, tenant_key)) count += 1;
  if (count >= limits.inboxes)
    throw inboxErrors.create(
      'inbox.too_many_inboxes',
      `A tenant can have at most ${limits.inboxes} inboxes.`,
    );
}

const guardOf = (found: number | undefined, expected: number | undefined) => {
  if (expected !== undefined) return { ifVersion: expected };
  return found === undefined ? { ifAbsent: true } : { ifVersion: found };
};

// Without an expected version, the last writer wins.
const edit = <T>(deps: Deps, expected: number | undefined, attempt: () => Promise<T>): Promise<T> =>
  retry(deps, async () => {
    try {
      return done(await attempt());
    } catch (error) {
      const isLost = tableErrors.includes(error) && error.code === 'table.condition_failed';
      if (isLost && expected !== undefined) throw versionMismatch();
      throw error;
    }
  });

export type Policies = {
  config: InboxConfig;
  tenantTtl?: string;
  until: Readonly<Record<string, number>>; // by category
  deleting: readonly string[]; // categories
};

// The settings that decide about a message. Publishes to one inbox that come together read them together.
export const createPolicies = (store: Store) =>
  readTogether(
    async ({
      tenant_key,
      inbox_key,
    }: InboxId): Promise<Omit<Policies, 'config'> & { config: InboxConfig | undefined }> => {
      const inbox = { tenant_key, inbox_key };
      const read = { consistent: true, pattern: 'policies of an inbox' };
      const [config, tenant, known] = await Promise.all([
        store.get(inboxConfig, inbox, read),
        store.get(tenantSettings, { tenant_key }, read),
        store.get(inboxCategories, inbox, read),
      ]);
      return { config, tenantTtl: tenant?.ttl, until: known?.until ?? {}, deleting: known?.deleting ?? [] };
    },
    inboxText,
  );

export async function readPolicies({ policies }: Deps, inbox: InboxId): Promise<Policies> {
  const { config, ...others } = await policies(inbox);
  if (!config || config.erasing) throw inboxNotFound();
  return { config, ...others };
}
