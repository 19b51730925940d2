import { createRecentMap } from '@stak/kit';
import type { Attributes } from '../client/client.ts';
import { DesignError } from '../errors.ts';
import * as limits from '../limits.ts';
import type { AnyEntity, ItemOf, KeyOf } from './entity.ts';
import { fromStored } from './item.ts';
import { type KeyTemplate, parseKey } from './key-template.ts';
import type { AnyTable } from './table.ts';

// The owner of an item, taken from its key if possible, so that images need not be decoded.

/** The account, tenant or user that an item belongs to. */
export type Owner<Kind extends string = string> = { readonly kind: Kind; readonly id: string };

/** The owner of an entity's items is in their key, or in the item. */
export type Ownership<Kind extends string = string> = {
  readonly entity: AnyEntity;
  readonly ofKey?: (key: never) => Owner<Kind> | undefined;
  readonly ofItem?: (item: never) => Owner<Kind> | undefined;
  readonly sharedBy?: string;
};

/** Items whose keys contain the owner: `ownedByKey(task, ({ user_id }) => ({ kind: 'user', id: user_id }))`. */
export const ownedByKey = <E extends AnyEntity, const Kind extends string>(
  entity: E,
  ofKey: (key: KeyOf<E>) => Owner<Kind> | undefined,
): Ownership<Kind> => ({ entity, ofKey });

/**
 * Items that must be read to find the owner. `sharedBy` names a part of the key: all items with the same value have one
 * owner, so only the first of them is read.
 */
export const ownedByItem = <E extends AnyEntity, const Kind extends string>(
  entity: E,
  ofItem: (item: Partial<ItemOf<E>>) => Owner<Kind> | undefined,
  sharedBy?: keyof KeyOf<E> & string,
): Ownership<Kind> => ({ entity, ofItem, ...(sharedBy !== undefined && { sharedBy }) });

/** Items of the installation itself, without an owner. */
export const ownedByNobody = (entity: AnyEntity): Ownership<never> => ({ entity });

type OwnedBy<Kind extends string> = { owner: Owner<Kind>; entity: AnyEntity };
/** Finds the owner of a stored item. */
export type FindOwner<Kind extends string> = (
  table: AnyTable,
  keys: Attributes,
  image: () => Attributes | undefined,
) => OwnedBy<Kind> | undefined;

/**
 * Finds owners for the entities of the tables. Every entity must be in the list, or its items would not be counted for
 * their owner.
 */
export function createOwners<Kind extends string>(
  tables: readonly AnyTable[],
  ownerships: readonly Ownership<Kind>[],
): FindOwner<Kind> {
  const byTable = new Map<AnyTable, Candidate<Kind>[]>();
  for (const table of tables) {
    const candidates = table.entities.map(entity => {
      const ownership = ownerships.find(ownership => ownership.entity === entity);
      if (!ownership)
        throw new DesignError(`${table.name}: ${entity.name} is missing from the list of owners`);
      return toCandidate(ownership);
    });
    byTable.set(table, candidates);
  }
  const shared = createRecentMap<string, Owner<Kind>>(limits.sharedOwners);

  // Both images of a change have the same keys, and often an owner that follows from them.
  let last: { keys: Attributes; owned: OwnedBy<Kind> | undefined } | undefined;

  return (table, keys, image) => {
    if (last?.keys === keys) return last.owned;
    const partition = keys[table.keys.partition];
    const sort = table.keys.sort === undefined ? undefined : keys[table.keys.sort];
    for (const ownership of byTable.get(table) ?? []) {
      const key = keyOfCandidate(ownership, partition, sort);
      if (!key) continue;
      const owner = ownerIn(ownership, key, image, shared);
      const owned = owner && { owner, entity: ownership.ownership.entity };
      const { ofKey, sharedBy } = ownership.ownership;
      if (ofKey || (owned && sharedBy !== undefined)) last = { keys, owned };
      return owned;
    }
    return undefined;
  };
}

type Candidate<Kind extends string> = {
  ownership: Ownership<Kind>;
  partition: KeyTemplate;
  sort?: KeyTemplate;
};

const toCandidate = <Kind extends string>(ownership: Ownership<Kind>): Candidate<Kind> => {
  const { partition, sort } = ownership.entity.key.templates;
  return { ownership, partition, ...(sort && { sort }) };
};

// Comparing the start of a key is many times cheaper than parsing it, and usually enough to exclude it.
function keyOfCandidate(
  { partition: wanted, sort: wantedSort }: Candidate<string>,
  partition: unknown,
  sort: unknown,
): Record<string, string> | undefined {
  if (!beginsLike(wanted, partition) || (wantedSort && !beginsLike(wantedSort, sort))) return undefined;
  const first = parseKey(wanted, partition);
  if (!first || !wantedSort) return first;
  const second = parseKey(wantedSort, sort);
  return second && Object.assign(first, second);
}

const beginsLike = ({ literals }: KeyTemplate, key: unknown): boolean =>
  typeof key === 'string' && key.startsWith(literals[0]!);

function ownerIn<Kind extends string>(
  { ownership }: Candidate<Kind>,
  key: Record<string, string>,
  image: () => Attributes | undefined,
  shared: { get(id: string): Owner<Kind> | undefined; set(id: string, owner: Owner<Kind>): void },
): Owner<Kind> | undefined {
  const { entity, ofKey, ofItem, sharedBy } = ownership;
  if (ofKey) return attempt(() => ofKey(key as never));
  if (!ofItem) return undefined;
  const cached = sharedBy === undefined ? undefined : shared.get(key[sharedBy]!);
  if (cached) return cached;
  const stored = image();
  const owner = stored && attempt(() => ofItem(fromStored(entity, stored) as never));
  if (owner && sharedBy !== undefined) shared.set(key[sharedBy]!, owner);
  return owner;
}

// An item that was not written by the service may not be readable: then it has no owner.
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
