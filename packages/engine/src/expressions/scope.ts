import { validationError } from '../errors.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import type { ExpressionKind, PathNode } from './ast.ts';
import { expressionError } from './cursor.ts';
import type { Path } from './path.ts';

// The placeholders of one request, shared by its expressions. DynamoDB refuses a request that defines a placeholder it
// does not use.
export type Scope = {
  readonly names: Record<string, string> | undefined;
  readonly values: Record<string, AttributeValue> | undefined;
  readonly usedNames: Set<string>;
  readonly usedValues: Set<string>;
};

export function createScope(names?: Record<string, string>, values?: Record<string, AttributeValue>): Scope {
  return { names, values, usedNames: new Set(), usedValues: new Set() };
}

export function assertAllUsed(scope: Scope): void {
  assertUsed('ExpressionAttributeNames', scope.names, scope.usedNames);
  assertUsed('ExpressionAttributeValues', scope.values, scope.usedValues);
}

function assertUsed(parameter: string, placeholders: object | undefined, used: Set<string>): void {
  if (!placeholders) return;
  const unused = Object.keys(placeholders).filter(key => !used.has(key));
  if (unused.length === 0) return;
  throw validationError(`Value provided in ${parameter} unused in expressions: keys: {${unused.join(', ')}}`);
}

export function resolveName(scope: Scope, name: string, kind: ExpressionKind): string {
  const attribute = scope.names?.[name];
  if (attribute === undefined) {
    throw expressionError(
      kind,
      `An expression attribute name used in the document path is not defined; attribute name: ${name}`,
    );
  }
  scope.usedNames.add(name);
  return attribute;
}

export function resolveValue(scope: Scope, name: string, kind: ExpressionKind): AttributeValue {
  const value = scope.values?.[name];
  if (value === undefined) {
    throw expressionError(
      kind,
      `An expression attribute value used in expression is not defined; attribute value: ${name}`,
    );
  }
  scope.usedValues.add(name);
  return value;
}

// A path without placeholders is the parsed path itself: both are read-only.
export function resolvePath(scope: Scope, { elements }: PathNode, kind: ExpressionKind): Path {
  if (!elements.some(isPlaceholder)) return elements;
  return elements.map(element => (isPlaceholder(element) ? resolveName(scope, element, kind) : element));
}

const isPlaceholder = (element: string | number): element is string =>
  typeof element === 'string' && element.charCodeAt(0) === 35;
