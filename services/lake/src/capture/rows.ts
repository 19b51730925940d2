import type { Change, ChangeKind } from '@stak/streams';
import { type AnyEntity, type Attributes, hasKeyOf, recognise } from '@stak/table';
import type { FollowedEntity, Owner, Plan } from '../tables.ts';
import { imageOf, keyText } from './image.ts';

// A row of bronze: one change of one item, or (a snapshot) an item as a backfill found it.
export type Row = {
  entity: string;
  kind: ChangeKind | 'snapshot';
  key: string;
  sequence: string; // empty for a snapshot: every change of the stream is newer
  eventId: string;
  at: number;
  owner: Owner;
  old: string | undefined;
  new: string | undefined;
  // Whether `old` is what the row before it left behind: sums can then go on from one to the other.
  isChained: boolean;
};

const otherEntity = 'other'; // items that no entity of the design describes

type Images = { old?: Attributes; new?: Attributes };

export function rowsOf(plan: Plan, change: Change<AnyEntity>): Row[] {
  if (isPassedOver(plan, change.keys)) return [];
  if (change.entity !== undefined) return rowOf(plan, change, change.entity, change.kind, change);
  const { entities } = plan.table;
  const old = change.old && recognise(entities, change.old);
  const current = change.new && recognise(entities, change.new);
  if (!old && !current) return rowOf(plan, change, otherEntity, change.kind, change);
  // Another entity was written under the same key: a removal of the old one and an insert of the new one.
  return [
    ...(old ? rowOf(plan, change, old.entity, 'remove', { old: old.item }) : []),
    ...(current ? rowOf(plan, change, current.entity, 'insert', { new: current.item }) : []),
  ];
}

// Decided by the keys alone, because parsing images is what costs.
function isPassedOver({ table, ignored }: Plan, keys: Attributes): boolean {
  if (ignored.size === 0) return false;
  const possible = table.entities.filter(entity => hasKeyOf(entity, keys));
  return possible.length > 0 && possible.every(({ name }) => ignored.has(name));
}

type ChangeInfo = Pick<Change<AnyEntity>, 'keys' | 'sequence' | 'eventId' | 'at'>;

function rowOf(plan: Plan, change: ChangeInfo, entity: string, kind: ChangeKind, images: Images): Row[] {
  if (plan.ignored.has(entity)) return [];
  const about = plan.entities.get(entity);
  const item = images.new ?? images.old ?? {};
  const owner = ownerOf(about, item);
  // The old image under this key may belong to another owner. The new owner must not see it.
  const isSame = !images.old || !images.new || sameOwner(owner, ownerOf(about, images.old));
  return [
    {
      entity,
      kind,
      key: keyText(plan.table.keys, change.keys),
      sequence: change.sequence,
      eventId: change.eventId,
      at: change.at.getTime(),
      owner,
      old: images.old && isSame ? imageOf(images.old, about?.omit) : undefined,
      new: images.new && imageOf(images.new, about?.omit),
      isChained: isSame,
    },
  ];
}

export function snapshotOf(plan: Plan, stored: Attributes, at: number): Row[] {
  const found = recognise(plan.table.entities, stored);
  const entity = found?.entity ?? otherEntity;
  const item: Attributes = found?.item ?? stored;
  const [row] = rowOf(plan, { keys: stored, sequence: '', eventId: '', at: new Date(at) }, entity, 'insert', {
    new: item,
  });
  return row ? [{ ...row, kind: 'snapshot', isChained: false }] : [];
}

const ownerOf = (about: FollowedEntity | undefined, item: Attributes): Owner => about?.ownerOf?.(item) ?? {};

const sameOwner = (a: Owner, b: Owner): boolean =>
  a.account_id === b.account_id && a.tenant_id === b.tenant_id && a.user_id === b.user_id;
