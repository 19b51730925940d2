import type { Attributes, Conditional, DeleteInput, GetInput, PutInput } from './client.ts';
import type { Condition } from './condition.ts';
import type { AnyEntity } from './entity.ts';
import { bindPlaceholders, createExpression } from './expression.ts';
import { conditional, type Guards, guardText, type Presence } from './guard.ts';
import { keyOf, parseInput, toStored } from './item.ts';

// Builds requests without sending them. `nowMs` decides which items have expired.

export type PutOptions<Item> = Guards<Item> & {
  ifAbsent?: boolean;
  // The same, for a key with an id generated for this item: if the response was lost and the key exists, it is this
  // item, even if others have changed it since.
  ifNew?: boolean;
};
export type DeleteOptions<Item> = Guards<Item> & { ifPresent?: boolean };
export type CheckOptions<Item> = { present: true; if?: Condition<Item> } | { absent: true };

/** The input of GetItem for an item of the entity. */
export const getParams = (entity: AnyEntity, key: object, consistent?: boolean): GetInput => ({
  TableName: entity.table.name,
  Key: keyOf(entity, key),
  ...(consistent && { ConsistentRead: true }),
});

/** The input of PutItem for an item of the entity. Validates the item against its schema. */
export function putParams(
  entity: AnyEntity,
  input: object,
  options: PutOptions<never>,
  nowMs: number,
): Omit<PutInput, 'ReturnValues'> {
  return {
    TableName: entity.table.name,
    Item: toStored(entity, parseInput(entity, complete(entity, input, options.ifVersion))),
    ...guard(entity, options.ifAbsent || options.ifNew ? 'absent' : 'any', options, nowMs),
  };
}

// Attributes that this layer sets itself are optional for the caller, and may still be in the schema.
function complete(entity: AnyEntity, input: object, ifVersion: number | undefined): object {
  const { kind, version, schema } = entity;
  const hasKind = kind !== undefined && 'kind' in schema.shape;
  const strayKind = kind !== undefined && !hasKind && 'kind' in input;
  if (!hasKind && !strayKind && version === undefined) return input;
  // Not a spread: V8 takes a microsecond or two for each attribute that is added to one.
  const whole: Attributes = {};
  for (const name of Object.keys(input)) if (name !== '__proto__') whole[name] = (input as Attributes)[name];
  if (hasKind) whole.kind = kind;
  if (strayKind) delete whole.kind;
  if (version !== undefined) whole[version] = ifVersion === undefined ? (whole[version] ?? 1) : ifVersion + 1;
  return whole;
}

/** The input of DeleteItem for an item of the entity. */
export const deleteParams = (
  entity: AnyEntity,
  key: object,
  options: DeleteOptions<never>,
  nowMs: number,
): Omit<DeleteInput, 'ReturnValues'> => ({
  TableName: entity.table.name,
  Key: keyOf(entity, key),
  ...guard(entity, options.ifPresent ? 'present' : 'own', options, nowMs),
});

/** The ConditionCheck of a transaction for an item of the entity. */
export const checkParams = (entity: AnyEntity, key: object, options: CheckOptions<never>, nowMs: number) => ({
  TableName: entity.table.name,
  Key: keyOf(entity, key),
  ...(guard(
    entity,
    'absent' in options ? 'absent' : 'present',
    'if' in options ? { if: options.if } : {},
    nowMs,
  ) as Conditional & { ConditionExpression: string }),
});

function guard(entity: AnyEntity, presence: Presence, guards: Guards<never>, nowMs: number): Conditional {
  if (presence === 'any' && guards.if === undefined && guards.ifVersion === undefined) return none;
  const expression = createExpression();
  const text = guardText(expression, entity, presence, guards, nowMs);
  return text === undefined ? none : bindPlaceholders(conditional(text), expression);
}

const none: Conditional = {};
