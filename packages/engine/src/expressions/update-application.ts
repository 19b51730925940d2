import { validationError } from '../errors.ts';
import { type AttributeValue, type Item, typeOf } from '../values/attribute-value.ts';
import { addNumbers, subtractNumbers } from '../values/number.ts';
import { createDraft, finishDraft, putAt, removeAt } from './draft.ts';
import { type Path, valueAt } from './path.ts';
import { createProjection, project } from './projection.ts';
import { addToSet, deleteFromSet, type SetValue } from './sets.ts';
import type { Action, SetOperand, Update } from './update.ts';

// `creates` is false when the item did not exist and the update only takes away: DynamoDB then writes nothing.
export type Updated = { item: Item; touched: Path[]; creates: boolean };

type Change = { path: Path; value: AttributeValue | undefined };

// Every value is read from the old item, and the item passed in stays unchanged: what changes is copied, the rest is
// shared. `isNew` says that the item is only a key so far.
export function applyUpdate(update: Update, item: Item, isNew = false): Updated {
  const changes = update.actions.map(action => changeOf(update, action, item));
  const draft = createDraft(item);
  for (const { path, value } of changes) {
    if (value !== undefined) putAt(draft, path, value);
    // DynamoDB removes a path that leads nowhere from an item that does not exist, though from no other.
    else if (!isNew) removeAt(draft, path);
  }
  const creates = update.actions.length === 0 || changes.some(change => change.value !== undefined);
  return { item: finishDraft(draft), touched: update.targets, creates };
}

// Returns the image of UPDATED_OLD and UPDATED_NEW.
export function projectTouched(touched: Path[], item: Item): Item | undefined {
  const image = project(createProjection(touched), item);
  for (const _ in image) return image;
  return undefined;
}

function changeOf(update: Update, action: Action, item: Item): Change {
  const { path } = action;
  switch (action.kind) {
    case 'set':
      return { path, value: evaluate(update, action.source, item) };
    case 'remove':
      return { path, value: undefined };
    case 'add':
      return { path, value: add(update, valueAt(item, path), action.value) };
    case 'delete':
      return { path, value: subtract(update, valueAt(item, path), action.value) };
  }
}

function evaluate(update: Update, source: SetOperand, item: Item): AttributeValue {
  switch (source.kind) {
    case 'value':
      return source.value;
    case 'path':
      return existing(valueAt(item, source.path));
    case 'if_not_exists':
      return valueAt(item, source.path) ?? evaluate(update, source.otherwise, item);
    case 'list_append': {
      const first = evaluate(update, source.first, item);
      const second = evaluate(update, source.second, item);
      if (!('L' in first && 'L' in second)) throw validationError(update.mismatch);
      return { L: [...first.L, ...second.L] };
    }
    case 'sum': {
      const left = evaluate(update, source.left, item);
      const right = evaluate(update, source.right, item);
      if (!('N' in left && 'N' in right)) throw validationError(update.mismatch);
      return { N: (source.operator === '+' ? addNumbers : subtractNumbers)(left.N, right.N) };
    }
  }
}

function existing(value: AttributeValue | undefined): AttributeValue {
  if (value !== undefined) return value;
  throw validationError('The provided expression refers to an attribute that does not exist in the item');
}

// Lists come only from the legacy ADD; the expression refuses them when it is bound.
function add(update: Update, old: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (old === undefined) return value;
  if ('N' in old && 'N' in value) return { N: addNumbers(old.N, value.N) };
  if ('L' in old && 'L' in value) return { L: [...old.L, ...value.L] };
  if (typeOf(old) !== typeOf(value)) throw validationError(update.mismatch);
  return addToSet(old as SetValue, value as SetValue);
}

// An empty set is not a valid value: the attribute is removed.
function subtract(
  update: Update,
  old: AttributeValue | undefined,
  value: AttributeValue,
): AttributeValue | undefined {
  if (old === undefined) return undefined;
  if (typeOf(old) !== typeOf(value)) throw validationError(update.mismatch);
  return deleteFromSet(old as SetValue, value as SetValue);
}
