import { type DynamoError, validationError } from '../errors.ts';
import { echo } from './echo.ts';
import type { Shape, StructureShape } from './shape.ts';
import { typeMismatch } from './type-mismatch.ts';

// DynamoDB stops listing after ten.
const maxErrors = 10;

// The first thing DynamoDB does with a request: every violated constraint, in one message. Callers in the same
// process may pass anything, so the types are checked here as well.
export function checkConstraints(shape: StructureShape, input: unknown): void {
  const errors: string[] = [];
  checkStructure(shape, input, '', errors);
  if (errors.length > 0) throw constraintError(errors);
}

export function constraintError(errors: string[]): DynamoError {
  const listed = errors.slice(0, maxErrors);
  const count = `${listed.length} validation error${listed.length > 1 ? 's' : ''} detected: `;
  return validationError(count + listed.join('; '));
}

export const violation = (value: unknown, path: string, constraint: string, element?: string): string =>
  `Value ${value == null ? 'null' : `'${echo(value, element)}'`} at '${path}' failed to satisfy constraint: ${constraint}`;

function checkStructure(shape: StructureShape, input: unknown, parent: string, errors: string[]): void {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw typeMismatch(shape, input, 'field');
  }
  const record = input as Record<string, unknown>;
  for (const member of shape.entries) {
    const value = record[member.name];
    if (value != null) check(member.shape, value, parent, member.label, errors);
    else if (member.shape.required) {
      errors.push(violation(null, parent + member.label, 'Member must not be null'));
    } else if (value === null) {
      // Null means absent. Code after the validators only has to handle undefined.
      Reflect.set(record, member.name, undefined);
    }
    // The table's name comes first, and an invalid one is reported alone.
    if (errors.length > 0 && parent === '' && member.name === 'TableName') return;
  }
}

// The path stays in two pieces until an error needs it, so that a valid request builds no strings.
function check(shape: Shape, value: unknown, parent: string, label: string, errors: string[]): void {
  if (errors.length >= maxErrors) return;
  switch (shape.kind) {
    case 'string':
      if (typeof value !== 'string') throw typeMismatch(shape, value, 'field');
      if (shape.values && !shape.values.includes(value)) {
        const values = `Member must satisfy enum value set: [${shape.values.join(', ')}]`;
        errors.push(violation(value, parent + label, values));
      }
      if (shape.pattern) checkPattern(shape.pattern, value, parent, label, errors);
      checkLength(shape, value.length, value, parent, label, errors);
      return;
    case 'integer':
    case 'long':
      if (!Number.isInteger(value)) throw typeMismatch(shape, value, 'field');
      checkRange(shape, value as number, parent, label, errors);
      return;
    case 'timestamp':
      if (!isTime(value)) throw typeMismatch(shape, value, 'field');
      return;
    case 'boolean':
      if (typeof value !== 'boolean') throw typeMismatch(shape, value, 'field');
      return;
    case 'value':
    case 'attributes':
      if (typeof value !== 'object' || Array.isArray(value)) throw typeMismatch(shape, value, 'field');
      return;
    case 'list':
      if (!Array.isArray(value)) throw typeMismatch(shape, value, 'field');
      checkLength(shape, value.length, value, parent, label, errors, elementName(shape.of));
      for (let i = 0; i < value.length; i++) checkElement(shape.of, value[i], parent, label, i + 1, errors);
      return;
    case 'map':
      if (typeof value !== 'object' || Array.isArray(value)) throw typeMismatch(shape, value, 'field');
      for (const name in value) {
        checkElement(shape.of, (value as Record<string, unknown>)[name], parent, label, name, errors);
      }
      if (shape.lists) checkListLengths(shape.lists, value as Record<string, unknown>, parent, label, errors);
      return;
    case 'refused':
      throw refusal(parent + label, shape.reason);
    case 'structure':
      checkStructure(shape, value, `${parent}${label}.`, errors);
  }
}

function checkElement(
  shape: Shape,
  value: unknown,
  parent: string,
  label: string,
  name: string | number,
  errors: string[],
): void {
  if (value == null) {
    errors.push(violation(null, `${parent}${label}.${name}.member`, 'Member must not be null'));
  } else if (shape.kind === 'attributes' || shape.kind === 'value' || isPlainString(shape)) {
    const fits = shape.kind === 'string' ? typeof value === 'string' : isRecord(value);
    if (!fits) throw typeMismatch(shape, value, 'element');
  } else if (shape.kind === 'structure' && !isRecord(value)) {
    throw typeMismatch(shape, value, 'element');
  } else {
    check(shape, value, `${parent}${label}.${name}.`, 'member', errors);
  }
}

const elementName = (shape: Shape): string | undefined =>
  shape.kind === 'structure' ? shape.name : undefined;
const isTime = (value: unknown): boolean => Number.isFinite(value instanceof Date ? value.getTime() : value);
const isRecord = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
const isPlainString = (shape: Shape): boolean =>
  shape.kind === 'string' &&
  !shape.values &&
  !shape.pattern &&
  shape.min === undefined &&
  shape.max === undefined;

type Limits = { min?: number; max?: number };

function checkLength(
  { min, max }: Limits,
  length: number,
  value: unknown,
  parent: string,
  label: string,
  errors: string[],
  element?: string,
): void {
  if (min !== undefined && length < min) {
    const constraint = `Member must have length greater than or equal to ${min}`;
    errors.push(violation(value, parent + label, constraint, element));
  }
  if (max !== undefined && length > max) {
    const constraint = `Member must have length less than or equal to ${max}`;
    errors.push(violation(value, parent + label, constraint, element));
  }
}

function checkListLengths(
  { min, max }: { min: number; max: number },
  lists: Record<string, unknown>,
  parent: string,
  label: string,
  errors: string[],
): void {
  for (const name in lists) {
    const list = lists[name];
    if (!Array.isArray(list) || (list.length >= min && list.length <= max)) continue;
    const constraint =
      `Map value must satisfy constraint: [Member must have length less than or equal to ${max}, ` +
      `Member must have length greater than or equal to ${min}]`;
    errors.push(violation(lists, parent + label, constraint));
    return;
  }
}

function checkRange(
  { min, max }: Limits,
  value: number,
  parent: string,
  label: string,
  errors: string[],
): void {
  if (min !== undefined && value < min) {
    errors.push(violation(value, parent + label, `Member must have value greater than or equal to ${min}`));
  }
  if (max !== undefined && value > max) {
    errors.push(violation(value, parent + label, `Member must have value less than or equal to ${max}`));
  }
}

function checkPattern(pattern: RegExp, value: string, parent: string, label: string, errors: string[]): void {
  // An empty name is only reported as too short.
  if (value === '' || pattern.test(value)) return;
  const source = pattern.source.slice(1, -1);
  errors.push(violation(value, parent + label, `Member must satisfy regular expression pattern: ${source}`));
}

function refusal(path: string, reason: string): DynamoError {
  const name = path.split('.').at(-1)!;
  return validationError(
    `One or more parameter values were invalid: ${name.charAt(0).toUpperCase()}${name.slice(1)} is not supported: ${reason}`,
  );
}
