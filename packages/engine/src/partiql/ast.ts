import type { ActionNode, ConditionNode, ValueNode } from '../expressions/ast.ts';
import type { Path } from '../expressions/path.ts';
import type { AttributeValue } from '../values/attribute-value.ts';

// Conditions and updates are the trees of the expression parsers, so one binder and one evaluator serve both languages.
// Names, literals and `?` become placeholders in them: `#0`, `:l0`, `:p0`.
export type TableSource = { table: string; index?: string };
export type Column = { name: string; path: Path };
export type OrderTerm = { name: string; descending: boolean };
export type Returning = { scope: 'ALL' | 'MODIFIED'; image: 'OLD' | 'NEW' };

export type Select = {
  kind: 'select';
  source: TableSource;
  // Undefined for `*`.
  columns?: Column[];
  where?: ConditionNode;
  order: OrderTerm[];
};
export type Insert = { kind: 'insert'; source: TableSource; attributes: [name: string, value: ValueNode][] };
export type Update = {
  kind: 'update';
  source: TableSource;
  actions: ActionNode[];
  where?: ConditionNode;
  returning?: Returning;
};
export type Delete = { kind: 'delete'; source: TableSource; where?: ConditionNode; returning?: Returning };
export type Exists = { kind: 'exists'; source: TableSource; select: Select };

type Write = Insert | Update | Delete | Exists;
export type Statement = Select | Write;

// One tree serves every request that sends the same text.
export type ParsedStatement = {
  statement: Statement;
  names: Record<string, string>;
  literals: Record<string, AttributeValue>;
  parameters: number;
  // Operands of SET_ADD and SET_DELETE, each with the error to report if it is not a set.
  sets: { value: ValueNode; fault: string }[];
};
