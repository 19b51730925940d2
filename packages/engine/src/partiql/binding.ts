import { validationError } from '../errors.ts';
import type { ConditionNode } from '../expressions/ast.ts';
import { bindConditionNode, type Condition } from '../expressions/condition.ts';
import { createScope, type Scope } from '../expressions/scope.ts';
import { bindUpdateNode, type Update } from '../expressions/update.ts';
import { validateItem } from '../validation/attribute-values.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import type { Delete, Insert, ParsedStatement, Returning, Select, TableSource } from './ast.ts';
import { withoutExpressionName } from './faults.ts';
import { parseStatement } from './statement-parser.ts';

// A statement with its literals and parameters in place, ready for any table of that name.
export type BoundSelect = Pick<Select, 'kind' | 'source' | 'columns' | 'order'> & { where?: Condition };
export type BoundInsert = { kind: 'insert'; source: TableSource; item: Item };
export type BoundUpdate = {
  kind: 'update';
  source: TableSource;
  update: Update;
  where?: Condition;
  returning?: Returning;
};
export type BoundDelete = Pick<Delete, 'kind' | 'source' | 'returning'> & { where?: Condition };
export type BoundExists = { kind: 'exists'; source: TableSource; where?: Condition };
export type BoundWrite = BoundInsert | BoundUpdate | BoundDelete | BoundExists;
export type BoundStatement = BoundSelect | BoundWrite;

type StatementInput = { Statement: string; Parameters?: AttributeValue[] | undefined };

export function bindStatement({ Statement, Parameters = [] }: StatementInput): BoundStatement {
  const parsed = parseStatement(Statement);
  if (parsed.parameters !== Parameters.length) {
    throw validationError("Number of parameters in request and statement don't match.");
  }
  return withoutExpressionName(() => bind(parsed, scopeOf(parsed, Parameters)));
}

// The receiver of a response may change it, and a statement may write what it returns. The parsed statement is shared,
// so its literals are copied first; those of a SELECT are not returned.
function scopeOf({ names, literals, statement }: ParsedStatement, parameters: AttributeValue[]): Scope {
  if (parameters.length === 0 && statement.kind === 'select') return createScope(names, literals);
  const values: Record<string, AttributeValue> = {};
  for (const name in literals) values[name] = copyValue(literals[name]!);
  for (let i = 0; i < parameters.length; i++) values[`:p${i}`] = parameters[i]!;
  return createScope(names, values);
}

function copyValue(value: AttributeValue): AttributeValue {
  if ('L' in value) return { L: value.L.map(copyValue) };
  if ('SS' in value) return { SS: [...value.SS] };
  if ('NS' in value) return { NS: [...value.NS] };
  if (!('M' in value)) return { ...value };
  const M = newItem();
  for (const name in value.M) M[name] = copyValue(value.M[name]!);
  return { M };
}

function bind(parsed: ParsedStatement, scope: Scope): BoundStatement {
  const { statement } = parsed;
  switch (statement.kind) {
    case 'select':
      return { ...statement, where: bindWhere(statement.where, scope) };
    case 'insert':
      return { kind: 'insert', source: statement.source, item: bindItem(statement, scope) };
    case 'update': {
      const { source, actions, returning } = statement;
      refuseIndex(source);
      for (const { value, fault } of parsed.sets) assertSet(scope.values![value.name]!, fault);
      const update = bindUpdateNode({ actions, names: [], values: [] }, scope);
      return { kind: 'update', source, update, where: bindWhere(statement.where, scope), returning };
    }
    case 'delete':
      refuseIndex(statement.source);
      return { ...statement, where: bindWhere(statement.where, scope) };
    case 'exists':
      return {
        kind: 'exists',
        source: statement.source,
        where: bindWhere(statement.select.where, scope),
      };
  }
}

const bindWhere = (where: ConditionNode | undefined, scope: Scope): Condition | undefined =>
  where && bindConditionNode('ConditionExpression', where, scope);

function bindItem({ attributes }: Insert, scope: Scope): Item {
  const item = newItem();
  for (const [name, value] of attributes) item[name] = scope.values![value.name]!;
  validateItem(item);
  return item;
}

function refuseIndex({ index }: TableSource): void {
  if (index !== undefined) throw validationError('This operation is not supported on an index');
}

function assertSet(value: AttributeValue, fault: string): void {
  if (!('SS' in value || 'NS' in value || 'BS' in value)) throw validationError(fault);
}
