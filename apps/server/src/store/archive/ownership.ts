import { member as organisationMember, profile } from '@stak/accounts/tables';
import { member as inboxMember, userMessage } from '@stak/inbox/tables';
import { type Clock, createRecentMap } from '@stak/kit';
import {
  type AnyEntity,
  type AnyTable,
  type Attributes,
  type DynamoClient,
  entityOf,
  type FindOwner,
  piecesOf,
  readStored,
  readStoredBatch,
  type Store,
} from '@stak/table';
import { tenant } from '@stak/tenants/tables';
import { oddSettingOf } from '@stak/webhooks';
import { connection, connectionPointer, event, source } from '@stak/webhooks/tables';
import { z } from 'zod';
import { UsageError } from '../../config/errors.ts';
import { ownTenant } from '../own-tenant.ts';
import type { OwnerKind } from '../storage.ts';
import { accountTables, createAccountOwners, userIn } from './account.ts';
import { keyIn, persist } from './import.ts';
import { ruleOf } from './keep.ts';
import { unworkable } from './work.ts';

// Whether the items of an archive belong to the accounts that it names. It may have been written by anyone, with
// keys that place an item among those of somebody else. So an item has to prove that it is the accounts' own: by its
// owner, by every id that it mentions, and by every partition of the table and its indexes that it would be in.

/** The ids that the archive claims for its accounts. */
export type Claims = {
  readonly accounts: ReadonlySet<string>;
  readonly profiles: Map<string, Attributes>;
  readonly tenants: Set<string>;
  readonly sources: Set<string>;
  readonly connections: Set<string>;
};

const accountId = /^usr_[0-9A-Za-z]{1,60}$/;
const tenantRealm = 'tenant:'; // before the id of a tenant, in the addresses that tasks reserve

export function openClaims(accounts: readonly string[]): Claims {
  const odd = accounts.find(id => !accountId.test(id));
  if (odd !== undefined || accounts.length === 0)
    throw new UsageError(`the archive names no account, or one that cannot be: ${odd ?? 'none'}`);
  return {
    accounts: new Set(accounts),
    profiles: new Map(),
    tenants: new Set(),
    sources: new Set(),
    connections: new Set(),
  };
}

/** Notes what the item claims for its account. Whether the claim is true is decided by the checks of the item. */
export function noteClaim(claims: Claims, table: AnyTable, item: Attributes): void {
  const entity = entityOf(table, item);
  const values = entity && valuesOf(entity, item);
  if (!values) return;
  const isOurs = (id: unknown) => typeof id === 'string' && claims.accounts.has(id);
  if (entity === profile) claims.profiles.set(String(values.userId), item);
  else if (entity === tenant && isOurs(values.account_id) && values.tenant_id !== ownTenant)
    claims.tenants.add(String(values.tenant_id));
  else if (entity === source && isOurs(values.userId)) claims.sources.add(String(values.sourceId));
  else if (entity === connectionPointer && isOurs(values.userId))
    claims.connections.add(String(values.connectionId));
}

type Values = Record<string, unknown>;

// The parts of the key and the attributes; undefined if they disagree, with each other or with a key of an index.
function valuesOf(entity: AnyEntity, item: Attributes): Values | undefined {
  const ofEntity = new Set<string>();
  const values: Values = {};
  for (const keys of [entity.key, ...entity.indexes]) {
    const [partition, sort] = [item[keys.partition], keys.sort === undefined ? undefined : item[keys.sort]];
    ofEntity.add(keys.partition);
    if (keys.sort !== undefined) ofEntity.add(keys.sort);
    if (keys !== entity.key && partition === undefined && sort === undefined) continue;
    for (const [template, key] of [
      [keys.templates.partition, partition],
      [keys.templates.sort, sort],
    ] as const) {
      if (!template) continue;
      const pieces = piecesOf(template, key);
      if (!pieces) return undefined;
      for (const { param, text } of pieces) {
        if (param === undefined) continue;
        const format = template.formats[template.params.indexOf(param)];
        const value = format === 'text' ? decode(text) : text;
        if (value === undefined) return undefined;
        const given = values[param] ?? item[param];
        if (given !== undefined && given !== null && !isSame(given, value)) return undefined;
        values[param] = value;
      }
    }
  }
  // A key of an index that the entity does not have would place the item in it.
  for (const name of entity.table.keyNames)
    if (item[name] !== undefined && !ofEntity.has(name)) return undefined;
  return { ...item, ...values };
}

const isSame = (value: unknown, text: string): boolean =>
  typeof value === 'number' ? value === Number(text) : value === text;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

// An attribute of another type than its schema's could not be read by the services. One may be missing: other programs
// and older versions write items too.
const attributeOfOtherType = ({ schema }: AnyEntity, item: Attributes): string | undefined =>
  Object.entries(schema.shape).find(
    ([name, type]) => item[name] !== undefined && !z.safeParse(type, item[name]).success,
  )?.[0];

// Attributes that name something of an owner, in any entity. A list has several.
type Mentioned = 'account' | 'tenant' | 'realm' | 'source' | 'connection' | 'event';
export const mentions: Readonly<Record<string, Mentioned>> = {
  userId: 'account',
  accountId: 'account',
  account_id: 'account',
  madeBy: 'account',
  appOf: 'account',
  confinedTo: 'account',
  tenant_id: 'tenant',
  tenant_key: 'tenant',
  tenants: 'tenant',
  realm: 'realm',
  sourceId: 'source',
  connectionId: 'connection',
  connectionIds: 'connection',
  eventId: 'event',
  eventIds: 'event',
};

// One item for each value that a profile has: without the profile's word, it would reserve somebody else's.
const locked = ['email', 'githubId', 'googleId', 'stripeCustomerId'] as const;
const isLock = ({ key, table }: AnyEntity): boolean =>
  table === profile.table && key.templates.sort?.text === 'LOCK';

const shardNames: ReadonlySet<string> = new Set(['dueIn', 'due_lane', 'shard']);
const shardShape = /^s?\d{1,3}$/;

export type Verdict =
  | { kind: 'ours' }
  | { kind: 'refused'; why: string }
  | { kind: 'outside'; entity: AnyEntity }; // it gives rights to somebody who is not in the archive

type Target = { client: DynamoClient; clock: Clock; store: Store };

const remembered = 50_000; // ids and partitions that were looked up, about 100 bytes each
const looked = 25; // items of a partition: they have one owner, or nobody could tell them apart

/** Decides about the items of an archive, against what the store already has. */
export function createOwnership(claims: Claims, { client, clock, store }: Target) {
  // Owners of several items are remembered by a part of their keys, so the store's and the archive's are kept apart.
  const [ownerInArchive, ownerInStore] = [createAccountOwners(), createAccountOwners()];
  const answers = createRecentMap<string, Promise<boolean>>(remembered);
  const once = (name: string, ask: () => Promise<boolean>): Promise<boolean> => {
    const answer = answers.get(name) ?? persist(clock, ask);
    answers.set(name, answer);
    return answer;
  };

  const isOwned = (findOwner: FindOwner<OwnerKind>, table: AnyTable, item: Attributes): boolean => {
    const owner = findOwner(table, item, () => item);
    if (!owner) return false;
    const { kind, id } = owner.owner;
    if (kind === 'account') return claims.accounts.has(id);
    if (kind === 'source') return claims.sources.has(id);
    if (kind === 'connection') return claims.connections.has(id);
    return id === ownTenant ? claims.accounts.has(userIn(owner.entity, item) ?? '') : claims.tenants.has(id);
  };

  const isForeign = (kind: Mentioned, id: string): Promise<boolean> =>
    once(`${kind} ${id}`, async () => {
      switch (kind) {
        case 'account':
          return !claims.accounts.has(id);
        case 'realm':
          return (
            id !== 'accounts' &&
            (!id.startsWith(tenantRealm) || isForeign('tenant', id.slice(tenantRealm.length)))
          );
        case 'tenant': {
          if (id === ownTenant) return false; // such an item has a user, who owns it
          if (!claims.tenants.has(id)) return true;
          const storedTenant = await store.get(tenant, { tenant_id: id }, { consistent: true });
          return storedTenant !== undefined && !claims.accounts.has(storedTenant.account_id);
        }
        // These ids are random. One that neither the archive nor the store has is of something that was deleted.
        case 'connection': {
          const pointer = await store.get(connectionPointer, { connectionId: id }, { consistent: true });
          return pointer !== undefined && !claims.accounts.has(pointer.userId);
        }
        case 'source':
          return isInIndex(source, 'GSI3', id);
        case 'event':
          return isInIndex(event, 'GSI1', id);
      }
    });

  // The id is the only part of the index's partition.
  function isInIndex(entity: AnyEntity, index: string, id: string): Promise<boolean> {
    const { templates } = entity.indexes.find(({ name }) => name === index)!;
    const table = accountTables.find(({ name }) => name === entity.table.name)!;
    return isTaken(table, index, templates.partition.literals.join(id));
  }

  async function foreignMention(values: Values, without?: string): Promise<string | undefined> {
    for (const [name, kind] of Object.entries(mentions)) {
      const value = values[name];
      if (value === undefined || name === without) continue;
      for (const id of Array.isArray(value) ? value : [value])
        if (typeof id !== 'string' || id === '' || (await isForeign(kind, id))) return name;
    }
    const { dueIn } = values;
    const isQueue = dueIn === undefined || shardShape.test(String(dueIn)) || dueIn === values.connectionId;
    return isQueue ? undefined : 'dueIn';
  }

  // Whether a partition already has items of others.
  const isTaken = (table: AnyTable, index: string | undefined, partition: string): Promise<boolean> =>
    once(`in ${table.name} ${index ?? ''} ${partition}`, async () => {
      const query = { partition, limit: looked, ...(index !== undefined && { index }) };
      const { items } = await readStored({ client, clock }, table, query, 'look for items of others');
      const keys = items.map(item => keyIn(table, item));
      const whole = index === undefined ? items : await readStoredBatch({ client, clock }, table, keys);
      return whole.some(item => item && !isOwned(ownerInStore, table, item));
    });

  async function takenPartition(table: AnyTable, entity: AnyEntity, item: Attributes) {
    for (const { name, partition, templates } of [entity.key, ...entity.indexes]) {
      const value = item[partition];
      const { params } = templates.partition;
      const isShared =
        params.every(param => shardNames.has(param) && shardShape.test(String(item[param]))) ||
        (entity === inboxMember && item.tenant_key === ownTenant) || // all accounts are members of our inboxes
        (entity === organisationMember && name === 'GSI1'); // people have several organisations
      if (typeof value !== 'string' || isShared) continue;
      if (await isTaken(table, name === 'primary' ? undefined : name, value)) return value;
    }
    return undefined;
  }

  function disagreesWithProfile(entity: AnyEntity, values: Values): boolean {
    const owner = isLock(entity) ? claims.profiles.get(String(values.userId)) : undefined;
    return isLock(entity) && locked.some(name => name in values && values[name] !== owner?.[name]);
  }

  const refused = (why: string): Verdict => ({ kind: 'refused', why });

  return {
    async judge(table: AnyTable, item: Attributes, isKept: boolean): Promise<Verdict> {
      const entity = entityOf(table, item);
      const rule = entity && ruleOf(entity);
      if (!rule) return refused('is nothing that an account has');
      const values = valuesOf(entity, item);
      if (!values) return refused('has keys that disagree with each other or with the item');
      const odd = attributeOfOtherType(entity, item);
      if (odd !== undefined) return refused(`has ${odd} of another type`);
      const unfit = unworkable(entity, { ...values, ...item });
      if (unfit !== undefined) return refused(unfit);
      const setting = entity === connection ? oddSettingOf(values) : undefined;
      if (setting !== undefined) return refused(`has a ${setting} that no connection can have`);
      if (!isOwned(ownerInArchive, table, item)) return refused('belongs to nobody in the archive');
      if (disagreesWithProfile(entity, values)) return refused('is not what the profile says');
      if (entity === userMessage && values.tenant_key === ownTenant && values.body_bytes !== undefined)
        return refused('has its text in a message of somebody else');
      if (!isKept) return { kind: 'ours' };
      const foreign = await foreignMention(values, entity === organisationMember ? 'userId' : undefined);
      if (foreign !== undefined)
        return rule === 'data' ? refused(`has a ${foreign} of others`) : { kind: 'outside', entity };
      const taken = await takenPartition(table, entity, item);
      return taken === undefined ? { kind: 'ours' } : refused(`would be among items of others, in ${taken}`);
    },
  };
}
