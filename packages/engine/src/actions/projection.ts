import { bindProjection, type Projection, projectionOf } from '../expressions/projection.ts';
import { assertAllUsed, createScope } from '../expressions/scope.ts';

type ProjectionInput = {
  ProjectionExpression?: string;
  AttributesToGet?: string[];
  ExpressionAttributeNames?: Record<string, string>;
};

// For requests whose projection is their only expression; undefined means the whole item.
export function bindProjectionOf(input: ProjectionInput): Projection | undefined {
  if (input.AttributesToGet) return projectionOf(input.AttributesToGet);
  if (input.ProjectionExpression === undefined && input.ExpressionAttributeNames === undefined)
    return undefined;
  const scope = createScope(input.ExpressionAttributeNames);
  const projection =
    input.ProjectionExpression === undefined ? undefined : bindProjection(input.ProjectionExpression, scope);
  assertAllUsed(scope);
  return projection;
}
