import { validationError } from '../errors.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import type { Path } from './path.ts';

// An item in the middle of an update. Maps and lists on the way to a change are copied once; the copies are
// `owned`. List indexes mean the list as it was, so elements leave holes and new ones wait until the end.
export type Draft = { item: Item; owned: Set<object>; lists: Map<List, Appended[]> };

type List = (AttributeValue | undefined)[];
type Appended = { index: number; value: AttributeValue };
type Holder = { M: Item } | { L: List };

export function createDraft(item: Item): Draft {
  return { item: copyItem(item), owned: new Set(), lists: new Map() };
}

function copyItem(item: Item): Item {
  const copy = newItem();
  for (const name in item) copy[name] = item[name]!;
  return copy;
}

export function putAt(draft: Draft, path: Path, value: AttributeValue): void {
  const last = path[path.length - 1]!;
  const holder = holderOf(draft, path);
  if ('M' in holder) {
    holder.M[last as string] = value;
    return;
  }
  const index = last as number;
  if (index < holder.L.length) holder.L[index] = value;
  else draft.lists.get(holder.L)!.push({ index, value });
}

export function removeAt(draft: Draft, path: Path): void {
  const last = path[path.length - 1]!;
  const holder = holderOf(draft, path);
  if ('M' in holder) delete holder.M[last as string];
  else if ((last as number) < holder.L.length) holder.L[last as number] = undefined;
}

// The list or map that holds the path's last element. Copies everything on the way to it.
function holderOf(draft: Draft, path: Path): Holder {
  let holder: Holder = { M: draft.item };
  for (let i = 1; i < path.length; i++) holder = own(draft, holder, path[i - 1]!, path[i]!);
  return holder;
}

function own(draft: Draft, holder: Holder, element: string | number, next: string | number): Holder {
  const value = 'M' in holder ? holder.M[element as string] : holder.L[element as number];
  if (value !== undefined && typeof next === 'string' && 'M' in value) {
    if (draft.owned.has(value)) return value;
    const copy = { M: copyItem(value.M) };
    return keep(draft, holder, element, copy);
  }
  if (value !== undefined && typeof next === 'number' && 'L' in value) {
    if (draft.owned.has(value)) return value;
    const copy = { L: [...value.L] };
    draft.lists.set(copy.L, []);
    return keep(draft, holder, element, copy);
  }
  throw validationError('The document path provided in the update expression is invalid for update');
}

function keep<Copy extends AttributeValue>(
  draft: Draft,
  holder: Holder,
  element: string | number,
  copy: Copy,
): Copy {
  if ('M' in holder) holder.M[element as string] = copy;
  else holder.L[element as number] = copy;
  draft.owned.add(copy);
  return copy;
}

// New elements are appended in the order of their indexes, however far beyond the end those were.
export function finishDraft(draft: Draft): Item {
  for (const [list, appended] of draft.lists) {
    let length = 0;
    for (const element of list) if (element !== undefined) list[length++] = element;
    list.length = length;
    appended.sort((a, b) => a.index - b.index);
    for (const { value } of appended) list.push(value);
  }
  return draft.item;
}
