import { type AttributeType, typeOf } from '../values/attribute-value.ts';
import type { Condition } from './condition.ts';
import type { Path } from './path.ts';
import type { Projection } from './projection.ts';
import type { Action, SetOperand, Update } from './update.ts';

type BoundExpression = Condition | Projection | Update;

// The top-level attributes that a condition reads, a projection returns or an update writes. An update may
// read the key; only writing it is refused.
export const attributesIn = (bound: BoundExpression): Set<string> =>
  headsOf('targets' in bound ? bound.targets : bound.paths);

// Returns the attributes that are read or written in part: DynamoDB refuses that for key attributes.
export const nestedAttributesIn = (bound: BoundExpression): Set<string> =>
  headsOf(bound.paths.filter(path => path.length > 1));

const headsOf = (paths: Path[]): Set<string> => new Set(paths.map(path => path[0] as string));

// The types that an update assigns to whole attributes, as far as the request shows them: an invalid type for an index
// key is refused before any item is read.
export function assignedTypes({ actions }: Update): Map<string, AttributeType> {
  const types = new Map<string, AttributeType>();
  for (const action of actions) {
    const type = assignedType(action);
    if (type !== undefined && action.path.length === 1) types.set(action.path[0] as string, type);
  }
  return types;
}

function assignedType(action: Action): AttributeType | undefined {
  if (action.kind === 'add' || action.kind === 'delete') return typeOf(action.value);
  return action.kind === 'set' ? sourceType(action.source) : undefined;
}

function sourceType(source: SetOperand): AttributeType | undefined {
  switch (source.kind) {
    case 'value':
      return typeOf(source.value);
    case 'sum':
      return 'N';
    case 'list_append':
      return 'L';
    case 'if_not_exists':
      return sourceType(source.otherwise);
    case 'path':
      return undefined;
  }
}
