import { versionMismatch } from '@stak/http';
import { createRecentMap, readTogether } from '@stak/kit';
import { createWithin, done, type ItemOf, type Store, tableErrors, write } from '@stak/table';
import { type Deps, retry } from './deps.ts';
import { inboxErrors, inboxNotFound } from './errors.ts';
import { type InboxId, inboxText } from './inbox-id.ts';
import * as limits from './limits.ts';
import { checkSchema, needsTenantTtl } from './message-rules.ts';
import type { Draft, InboxBody } from './schema.ts';
import { inboxCategories, inboxConfig, inboxCreation, inboxesOfTenant, tenantSettings } from './tables.ts';

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
  tenantTtl?: string; // if the message depends on it
  until: Readonly<Record<string, number>>; // by category, if the message has one
  deleting: readonly string[]; // categories, if the message has one
};

export type PolicyReads = {
  config(inbox: InboxId): Promise<InboxConfig | undefined>;
  tenant(tenant_key: string): Promise<TenantSettings | undefined>;
  categories(inbox: InboxId): Promise<ItemOf<typeof inboxCategories> | undefined>;
  usesTenant(inbox: InboxId): boolean; // whether the inbox had no lifetime of its own when it was last read
};

// The settings that decide about messages. Publishes that come together read them together.
export function createPolicyReads(store: Store): PolicyReads {
  const read = { consistent: true, pattern: 'policies of an inbox' };
  const ownTtl = createRecentMap<string, boolean>(limits.cachedInboxes);
  const idOf = ({ tenant_key, inbox_key }: InboxId) => ({ tenant_key, inbox_key });
  const config = readTogether(async (inbox: InboxId) => {
    const found = await store.get(inboxConfig, idOf(inbox), read);
    ownTtl.set(inboxText(inbox), found?.ttl.default !== undefined);
    return found;
  }, inboxText);
  return {
    config,
    tenant: readTogether((tenant_key: string) => store.get(tenantSettings, { tenant_key }, read)),
    categories: readTogether((inbox: InboxId) => store.get(inboxCategories, idOf(inbox), read), inboxText),
    usesTenant: inbox => ownTtl.get(inboxText(inbox)) !== true,
  };
}

// Reads only what the message depends on. All of it is read at once, if the inbox is still as it was the last time.
export async function readPolicies(
  { policies }: Deps,
  inbox: InboxId,
  message: Pick<Draft, 'taxonomy' | 'ttl' | 'expiredat'>,
): Promise<Policies> {
  const { tenant_key } = inbox;
  const isLikely = policies.usesTenant(inbox) && needsTenantTtl(message, {});
  const [config, likely, known] = await Promise.all([
    policies.config(inbox),
    isLikely ? policies.tenant(tenant_key) : undefined,
    message.taxonomy ? policies.categories(inbox) : undefined,
  ]);
  if (!config || config.erasing) throw inboxNotFound();
  const isMissing = !isLikely && needsTenantTtl(message, config.ttl);
  const tenant = isMissing ? await policies.tenant(tenant_key) : likely;
  return { config, tenantTtl: tenant?.ttl, until: known?.until ?? {}, deleting: known?.deleting ?? [] };
}
