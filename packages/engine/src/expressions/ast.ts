// The parsers keep placeholders, so one tree serves every request that sends the same text. In a document path a string
// that starts with `#` is a placeholder; no plain name can.
export type ExpressionKind =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'SearchConditionExpression'
  | 'UpdateExpression'
  | 'ProjectionExpression';

export type PathNode = { kind: 'path'; elements: (string | number)[] };
export type ValueNode = { kind: 'value'; name: string };
export type CallNode = { kind: 'call'; name: string; args: OperandNode[] };
export type OperandNode = PathNode | ValueNode | CallNode;

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type LeafNode =
  | { kind: 'compare'; operator: Comparator; left: OperandNode; right: OperandNode }
  | { kind: 'between'; operand: OperandNode; from: OperandNode; to: OperandNode }
  | { kind: 'in'; operand: OperandNode; candidates: OperandNode[] }
  | CallNode;

export type ConditionNode =
  | { kind: 'and' | 'or'; tests: ConditionNode[] }
  | { kind: 'not'; test: ConditionNode }
  | LeafNode;

export type SumNode = { kind: 'sum'; operator: '+' | '-'; left: OperandNode; right: OperandNode };

export type ActionNode =
  | { kind: 'set'; path: PathNode; value: OperandNode | SumNode }
  | { kind: 'remove'; path: PathNode }
  | { kind: 'add' | 'delete'; path: PathNode; value: ValueNode };

// The placeholders stand in the order of the text, which is the order in which missing ones are reported.
export type UpdateNode = { actions: ActionNode[]; names: string[]; values: string[] };

export type ProjectionNode = PathNode[];
