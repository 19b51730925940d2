import type { Condition } from './condition.ts';
import type { Path } from './path.ts';
import type { Projection } from './projection.ts';
import type { Update } from './update.ts';

type BoundExpression = Condition | Projection | Update;

// The top-level attributes that a condition reads, a projection returns or an update writes. An update may
// read the key; only writing it is refused.
export const attributesIn = (bound: BoundExpression): Set<string> =>
  headsOf('targets' in bound ? bound.targets : bound.paths);

// Returns the attributes that are read or written in part: DynamoDB refuses that for key attributes.
export const nestedAttributesIn = (bound: BoundExpression): Set<string> =>
  headsOf(bound.paths.filter(path => path.length > 1));

const headsOf = (paths: Path[]): Set<string> => new Set(paths.map(path => path[0] as string));
