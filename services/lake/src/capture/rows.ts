import { createRecentMap } from '@stak/kit';
import { type Change, type ChangeKind, continues } from '@stak/streams';
import { type AnyEntity, type Attributes, recognise } from '@stak/table';
import * as limits from '../limits.ts';
import type { FollowedEntity, Owner, Plan, TextsNow } from '../tables.ts';
import { type Image, imageOf, keyText, readEntityImage } from './image.ts';

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
  // Whether `old` is the image that the row before it left: sums can then continue from one to the other.
  isChained: boolean;
  // A text, until it is known whether its account wants it.
  text?: Attributes;
};

const otherEntity = 'other'; // items of no entity of the design

type Images = { old?: Image | undefined; new?: Image | undefined };

// `hasTexts`: whether any account wants texts. `wantedRows` finds out which accounts do.
export function rowsOf(plan: Plan, change: Change<AnyEntity>, hasTexts: boolean): Row[] {
  const possible = plan.entitiesOf(change.keys);
  return areOut(plan, possible, hasTexts) ? [] : wholeRows(plan, change, possible);
}

function wholeRows(plan: Plan, change: Change<AnyEntity>, possible: readonly AnyEntity[]): Row[] {
  const { entity, kind } = change;
  // The images of a letter are items already.
  if (entity !== undefined)
    return rowOf(plan, change, entity, kind, { old: itemImage(change.old), new: itemImage(change.new) });
  const old = readEntityImage(plan, possible, change, 'old');
  const current = readEntityImage(plan, possible, change, 'new');
  const named = current?.entity ?? old?.entity;
  if (named === undefined) {
    if (areOut(plan, possible, false)) return [];
    return rowOf(plan, change, otherEntity, kind, { old, new: current });
  }
  if (!old || !current || old.entity === current.entity)
    return rowOf(plan, change, named, kind, { old, new: current });
  // Another entity was written under the same key: a removal of the old one and an insert of the new one.
  return [
    ...(old.entity === undefined ? [] : rowOf(plan, change, old.entity, 'remove', { old })),
    ...(current.entity === undefined ? [] : rowOf(plan, change, current.entity, 'insert', { new: current })),
  ];
}

const itemImage = (item: object | undefined): Image | undefined => item && { item: item as Attributes };

// The rows of changes one after the other. Most items are changed again soon after they were written, and what a change
// found is then what the last one left: it is neither decoded nor written as text again.
export function createRows(plan: Plan, hasTexts: boolean) {
  // Changes of one item follow each other closely. Older rows are left to the garbage collector.
  const latest = createRecentMap<string, { change: Change<AnyEntity>; row: Row }>(limits.latestRows);

  function rowAfter(
    { change: before, row }: { change: Change<AnyEntity>; row: Row },
    change: Change<AnyEntity>,
    possible: readonly AnyEntity[],
  ): Row | undefined {
    if (row.new === undefined || row.text || !continues(before, change)) return undefined;
    const { entity, owner, key, new: old } = row;
    const { kind, sequence, eventId } = change;
    const at = change.at.getTime();
    const current = readEntityImage(plan, possible, change, 'new');
    let text: string | undefined;
    if (current) {
      if (current.entity !== entity) return undefined;
      const about = plan.entities.get(entity);
      if (!sameOwner(owner, ownerOf(about, current.item))) return undefined;
      text = jsonOf(current, about);
    }
    // The members of all rows in one order and without copies of objects: V8 then reads and writes them faster.
    return { entity, kind, key, sequence, eventId, at, owner, old, new: text, isChained: true };
  }

  return (change: Change<AnyEntity>): Row[] => {
    const possible = plan.entitiesOf(change.keys);
    if (areOut(plan, possible, hasTexts)) return [];
    const name = nameOf(plan, change.keys);
    const before = change.kind === 'insert' ? undefined : latest.get(name);
    const row = before && rowAfter(before, change, possible);
    const rows = row ? [row] : wholeRows(plan, change, possible);
    const [only] = rows;
    if (only && rows.length === 1) latest.set(name, { change, row: only });
    return rows;
  };
}

const nameOf = ({ table: { keys: names } }: Plan, keys: Attributes): string =>
  names.sort === undefined ? String(keys[names.partition]) : `${keys[names.partition]}\n${keys[names.sort]}`;

// Decided by the keys alone, because parsing images is what costs.
function areOut({ ignored, texts }: Plan, possible: readonly AnyEntity[], hasTexts: boolean): boolean {
  if (ignored.size + texts.size === 0) return false;
  const isOut = (name: string) => ignored.has(name) || (!hasTexts && texts.has(name));
  return possible.length > 0 && possible.every(({ name }) => isOut(name));
}

export const mayHaveRows = (plan: Plan, { keys }: Pick<Change<AnyEntity>, 'keys'>): boolean =>
  !areOut(plan, plan.entitiesOf(keys), true);

// With its entity and the items, as a letter stores it.
export function typedChange(plan: Plan, change: Change<AnyEntity>): Change<AnyEntity> {
  const { kind, keys, sequence, eventId, at, oldBytes, newBytes } = change;
  const old = change.old && recognise(plan.table.entities, change.old);
  const current = change.new && recognise(plan.table.entities, change.new);
  const event = { kind, keys, sequence, eventId, at, oldBytes, newBytes };
  const isOne = (old ?? current) && (!change.old || !change.new || old?.entity === current?.entity);
  return (
    isOne
      ? { ...event, entity: (current ?? old)!.entity, old: old?.item, new: current?.item }
      : { ...event, entity: undefined, old: change.old, new: change.new }
  ) as Change<AnyEntity>;
}

// Keeps the texts of accounts that want them. A removal keeps its key, because an earlier text may be stored.
export async function wantedRows(rows: Row[], texts: Pick<TextsNow, 'whose'>): Promise<Row[]> {
  if (rows.every(row => row.text === undefined)) return rows;
  const wanted: Row[] = [];
  for (const { text, ...row } of rows) {
    if (text === undefined) {
      wanted.push(row);
      continue;
    }
    const whose = await texts.whose(row.entity, text);
    if (row.new === undefined) {
      if (whose !== 'off') wanted.push(row);
    } else if (typeof whose === 'object') wanted.push({ ...row, owner: whose });
    // The text that it replaced must be removed.
    else if (whose === 'unknown' && row.kind === 'modify')
      wanted.push({ ...row, kind: 'remove', new: undefined });
  }
  return wanted;
}

type ChangeInfo = Pick<Change<AnyEntity>, 'keys' | 'sequence' | 'eventId' | 'at'>;

function rowOf(plan: Plan, change: ChangeInfo, entity: string, kind: ChangeKind, images: Images): Row[] {
  if (plan.ignored.has(entity)) return [];
  const about = plan.entities.get(entity);
  if (about?.text) return textRow(plan, change, about, kind, images);
  const { item } = images.new ?? images.old ?? { item: {} };
  const owner = ownerOf(about, item);
  // The old image under this key may belong to another owner. The new owner must not see it.
  const isSame = !images.old || !images.new || sameOwner(owner, ownerOf(about, images.old.item));
  return [
    {
      entity,
      kind,
      key: keyText(plan.table.keys, change.keys),
      sequence: change.sequence,
      eventId: change.eventId,
      at: change.at.getTime(),
      owner,
      old: images.old && isSame ? jsonOf(images.old, about) : undefined,
      new: images.new && jsonOf(images.new, about),
      isChained: isSame,
    },
  ];
}

const jsonOf = ({ json, item }: Image, about: FollowedEntity | undefined): string =>
  json ?? imageOf(item, about?.omit);

// Without an old image: a text that was changed or removed is not kept, so its changes cannot be summed.
function textRow(
  { table }: Plan,
  { keys, sequence, eventId, at }: ChangeInfo,
  { entity, text }: FollowedEntity,
  kind: ChangeKind,
  { old, new: current }: Images,
): Row[] {
  const { item } = current ?? old ?? { item: {} };
  const shown = text!.of(item);
  if (!shown) return [];
  const row = {
    entity: entity.name,
    kind,
    key: keyText(table.keys, keys),
    sequence,
    eventId,
    at: at.getTime(),
  };
  return [
    { ...row, owner: {}, old: undefined, new: current && imageOf(shown), isChained: false, text: item },
  ];
}

export function snapshotOf(plan: Plan, stored: Attributes, at: number, hasTexts: boolean): Row[] {
  const possible = plan.entitiesOf(stored);
  if (areOut(plan, possible, hasTexts)) return [];
  const found = recognise(possible, stored);
  if (!found && areOut(plan, possible, false)) return [];
  const entity = found?.entity ?? otherEntity;
  const item: Attributes = found?.item ?? stored;
  const [row] = rowOf(plan, { keys: stored, sequence: '', eventId: '', at: new Date(at) }, entity, 'insert', {
    new: { item },
  });
  return row ? [{ ...row, kind: 'snapshot', isChained: false }] : [];
}

const ownerOf = (about: FollowedEntity | undefined, item: Attributes): Owner => about?.ownerOf?.(item) ?? {};

const sameOwner = (a: Owner, b: Owner): boolean =>
  a.account_id === b.account_id && a.tenant_id === b.tenant_id && a.user_id === b.user_id;
