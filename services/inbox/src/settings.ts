import { versionMismatch } from '@stak/http';
import { type ItemOf, tableErrors } from '@stak/table';
import { checkSchema } from './body-schema.ts';
import type { Service } from './deps.ts';
import { inboxErrors, noInbox } from './errors.ts';
import * as limits from './limits.ts';
import type { Place } from './places.ts';
import { done, untilDone } from './race.ts';
import type { InboxBody } from './schema.ts';
import { inboxCategories, inboxConfig, inboxesOfTenant, tenantSettings } from './table.ts';

export type InboxConfig = ItemOf<typeof inboxConfig>;
export type TenantSettings = ItemOf<typeof tenantSettings>;

// Who writes it, and over which version: undefined for any.
type Edit = { by: string; version?: number };

export const readTenantSettings = ({ store }: Service, tenant_key: string) =>
  store.get(tenantSettings, { tenant_key }, { consistent: true });

export function writeTenantSettings(
  service: Service,
  tenant_key: string,
  body: { title: string; ttl?: string },
  { by, version }: Edit,
): Promise<TenantSettings> {
  const { store } = service;
  return edit(service, version, async () => {
    const found = await readTenantSettings(service, tenant_key);
    const guard = guardOf(found?.version, version);
    return store.put(tenantSettings, { tenant_key, ...body, uid: by }, guard);
  });
}

export async function readInbox({ store }: Service, place: Place): Promise<InboxConfig> {
  const found = await store.get(inboxConfig, place, { consistent: true });
  if (!found || found.erasing) throw noInbox();
  return found;
}

export async function writeInbox(
  service: Service,
  place: Place,
  body: InboxBody,
  { by, version }: Edit,
): Promise<InboxConfig> {
  const { store } = service;
  if (body.schema) checkSchema(body.schema);
  return edit(service, version, async () => {
    const found = await store.get(inboxConfig, place, { consistent: true });
    if (!found) await checkRoom(service, place.tenant_key);
    if (found?.erasing)
      throw inboxErrors.create(
        'inbox.being_erased',
        'An inbox of this name is being deleted. Try again later.',
      );
    return store.put(inboxConfig, { ...place, ...body, uid: by }, guardOf(found?.version, version));
  });
}

export const listInboxes = ({ store }: Service, tenant_key: string): AsyncGenerator<InboxConfig> =>
  store.all(inboxesOfTenant, { tenant_key });

async function checkRoom(service: Service, tenant_key: string): Promise<void> {
  let count = 0;
  for await (const _ of listInboxes(service, tenant_key)) count += 1;
  if (count >= limits.inboxes)
    throw inboxErrors.create('inbox.too_many_inboxes', `A tenant has at most ${limits.inboxes} inboxes.`);
}

const guardOf = (found: number | undefined, expected: number | undefined) => {
  if (expected !== undefined) return { ifVersion: expected };
  return found === undefined ? { ifAbsent: true } : { ifVersion: found };
};

// Without an expected version, whoever comes last is right.
const edit = <T>(service: Service, expected: number | undefined, attempt: () => Promise<T>): Promise<T> =>
  untilDone(service, async () => {
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

// Everything a message is judged by.
export async function readPolicies({ store }: Service, place: Place): Promise<Policies> {
  const { tenant_key } = place;
  const read = { consistent: true, pattern: 'policies of an inbox' };
  const [config, tenant, known] = await Promise.all([
    store.get(inboxConfig, place, read),
    store.get(tenantSettings, { tenant_key }, read),
    store.get(inboxCategories, place, read),
  ]);
  if (!config || config.erasing) throw noInbox();
  return {
    config,
    tenantTtl: tenant?.ttl,
    until: known?.until ?? {},
    deleting: known?.deleting ?? [],
  };
}
