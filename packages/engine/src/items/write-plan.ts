import type { Context } from '../context.ts';
import { conditionFailed, validationError } from '../errors.ts';
import { attributesIn, nestedAttributesIn } from '../expressions/attributes.ts';
import type { Condition } from '../expressions/condition.ts';
import { evaluateCondition } from '../expressions/evaluation.ts';
import type { Path } from '../expressions/path.ts';
import type { Update } from '../expressions/update.ts';
import { applyUpdate } from '../expressions/update-application.ts';
import { type Image, keyAttributes, makeImage, readImage, writeChange } from '../item-writer.ts';
import * as limits from '../limits.ts';
import { reportWrite } from '../partition-usage.ts';
import type { Tx } from '../storage/committer.ts';
import { itemKey } from '../storage/keys.ts';
import type { Table } from '../storage/table.ts';
import { tooDeep, validateValue } from '../validation/attribute-values.ts';
import {
  checkItemKeys,
  checkKey,
  checkNestedPaths,
  checkUpdatedAttributes,
  checkUpdatedIndexKeys,
} from '../validation/keys.ts';
import type { Item } from '../values/attribute-value.ts';
import { itemSize } from '../values/size.ts';

// One item's write in two steps: `decide` reads and checks, `applyDecision` writes. A transaction does the first step
// for all its items before the second for any.

export type Outcome = { before?: Image; after?: Image; touched?: Path[] };
export type Guard = { condition?: Condition; returnOnFailure?: 'ALL_OLD' | 'NONE' };
export type Plan = {
  table: Table;
  target: Item; // has the key
  key: Buffer;
  guard: Guard;
  next(before: Image | undefined): Outcome;
};

export function planPut(table: Table, item: Item, guard: Guard, checkKeys = checkItemKeys): Plan {
  checkKeys(table, item);
  checkGuard(table, guard);
  const after = makeImage(item);
  return { table, target: item, key: itemKey(table, item), guard, next: before => ({ before, after }) };
}

export function planDelete(table: Table, key: Item, guard: Guard): Plan {
  checkKey(table, key);
  checkGuard(table, guard);
  return { table, target: key, key: itemKey(table, key), guard, next: before => ({ before }) };
}

// Leaves the item unchanged: only the condition matters.
export function planCheck(table: Table, key: Item, guard: Guard): Plan {
  checkKey(table, key);
  checkGuard(table, guard);
  return { table, target: key, key: itemKey(table, key), guard, next: before => ({ before, after: before }) };
}

export function planUpdate(table: Table, key: Item, update: Update, guard: Guard): Plan {
  checkKey(table, key);
  checkGuard(table, guard);
  checkUpdatedAttributes(table, attributesIn(update));
  checkNestedPaths(table, nestedAttributesIn(update));
  const nextImage = (before: Image | undefined): Outcome => {
    const base = before?.item ?? keyAttributes(table, key);
    const { item, touched, creates } = applyUpdate(update, base, !before);
    if (!before && !creates) return { touched };
    checkUpdatedIndexKeys(table, before?.item, item);
    checkDepth(update, item);
    const size = itemSize(item);
    if (size > limits.itemBytes) {
      throw validationError('Item size to update has exceeded the maximum allowed size');
    }
    return { before, after: makeImage(item, size), touched };
  };
  return { table, target: key, key: itemKey(table, key), guard, next: nextImage };
}

// An update can push what it touches below the deepest level allowed.
function checkDepth({ targets }: Update, item: Item): void {
  for (const [name] of targets) {
    const value = item[name as string];
    if (!value || !('M' in value || 'L' in value)) continue;
    try {
      validateValue(value);
    } catch (error) {
      if ((error as Error).message !== tooDeep) throw error;
      throw validationError('Nesting Levels have exceeded supported limits');
    }
  }
}

function checkGuard(table: Table, { condition }: Guard): void {
  if (condition) checkNestedPaths(table, nestedAttributesIn(condition));
}

export function decide(context: Context, { key, guard, next }: Plan): Outcome {
  const before = readImage(context.store, key);
  if (guard.condition && !evaluateCondition(guard.condition, before?.item)) {
    throw conditionFailed(guard.returnOnFailure === 'ALL_OLD' ? before?.item : undefined);
  }
  return next(before);
}

export function applyDecision(context: Context, tx: Tx, plan: Plan, outcome: Outcome, factor = 1): void {
  const { table, key } = plan;
  if (context.onUsage) reportWrite(context, plan, outcome, factor);
  if (outcome.before === outcome.after) return;
  writeChange(tx, { table, key, before: outcome.before, after: outcome.after, now: context.now() });
}
