import { DynamoError, validationError } from '../errors.ts';
import type { Condition, Test } from '../expressions/condition.ts';
import { projectTouched } from '../expressions/update-application.ts';
import { keyAttributes } from '../item-writer.ts';
import type { Guard, Outcome, Plan } from '../items/write-plan.ts';
import { planCheck, planDelete, planPut, planUpdate } from '../items/write-plan.ts';
import type { Table } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import type { Returning } from './ast.ts';
import type { BoundDelete, BoundExists, BoundInsert, BoundUpdate, BoundWrite } from './binding.ts';
import { incompleteKey, keyMismatch, mistypedKey } from './faults.ts';
import { joined, pinKey } from './key-tests.ts';

export type Target = { plan: Plan; key: Item };
type ReturnOnFailure = Guard['returnOnFailure'];

// Errors for a WHERE clause that does not name one item. A transaction uses the same one for every fault.
export type KeyFaults = {
  incomplete: string;
  mistyped(name: string): string;
  conflict(name: string): string;
};

const statementFaults: KeyFaults = {
  incomplete: incompleteKey,
  mistyped: mistypedKey,
  conflict: name =>
    `Multiple conditions on same key ${name}. Only single item Update/Insert/Delete are supported`,
};
export const transactionFaults: KeyFaults = {
  incomplete: keyMismatch,
  mistyped: () => keyMismatch,
  conflict: () => keyMismatch,
};

export function planWrite(
  table: Table,
  write: BoundWrite,
  returnOnFailure: ReturnOnFailure,
  faults = statementFaults,
): Target {
  if (write.kind === 'insert') return planInsert(table, write);
  const { key, rest } = targetOf(table, write, faults);
  const guard = (test: Test | undefined): Guard => ({ condition: conditionOf(write, test), returnOnFailure });
  switch (write.kind) {
    case 'update':
      return { key, plan: planUpdate(table, key, write.update, guard(ifExists(table, rest))) };
    case 'delete':
      return { key, plan: planDelete(table, key, guard(unlessMissing(table, rest))) };
    case 'exists':
      return { key, plan: planCheck(table, key, guard(joined(rest))) };
  }
}

// The paths are those of the whole clause: key paths are never nested, so nothing is checked twice.
const conditionOf = (write: BoundUpdate | BoundDelete | BoundExists, test: Test | undefined) =>
  test && ({ test, paths: write.where?.paths ?? [] } satisfies Condition);

function planInsert(table: Table, { item }: BoundInsert): Target {
  const plan = planPut(table, item, {});
  return {
    key: keyAttributes(table, item),
    plan: {
      ...plan,
      next(before) {
        if (before) {
          throw new DynamoError('DuplicateItemException', 'Duplicate primary key exists in table');
        }
        return plan.next(before);
      },
    },
  };
}

function targetOf(table: Table, { where }: { where?: Condition }, faults: KeyFaults) {
  const { key, complete, conflict, rest } = pinKey(table.keys, where?.test);
  if (!complete) throw validationError(faults.incomplete);
  if (conflict !== undefined) throw validationError(faults.conflict(conflict));
  for (const { name, type } of table.keys.range ? [table.keys.hash, table.keys.range] : [table.keys.hash]) {
    if (!(type in key[name]!)) throw validationError(faults.mistyped(name));
  }
  return { key, rest };
}

const isThere = (table: Table, kind: 'attribute_exists' | 'attribute_not_exists'): Test => ({
  kind,
  operand: { kind: 'path', path: [table.keys.hash.name] },
});

// UPDATE never creates an item.
const ifExists = (table: Table, rest: Test[]): Test | undefined =>
  joined([isThere(table, 'attribute_exists'), ...rest]);

// DELETE of a missing item succeeds, whatever the rest of the clause says.
function unlessMissing(table: Table, rest: Test[]): Test | undefined {
  const test = joined(rest);
  return test && { kind: 'or', tests: [isThere(table, 'attribute_not_exists'), test] };
}

export function returnedItem(returning: Returning | undefined, outcome: Outcome): Item | undefined {
  if (!returning) return undefined;
  const item = (returning.image === 'OLD' ? outcome.before : outcome.after)?.item;
  if (returning.scope === 'ALL' || !item) return item;
  return projectTouched(outcome.touched ?? [], item);
}
