import type { Attributes, Conditional, DeleteInput, GetInput, PutInput } from '../client/client.ts';
import type { PreparedPut, PreparedWrite } from '../client/prepared.ts';
import type { Condition } from '../conditions/condition.ts';
import { bindPlaceholders, createExpression } from '../conditions/expression.ts';
import { conditional, type Guards, guardTest, guardText, type Presence } from '../conditions/guard.ts';
import type { AnyEntity } from '../design/entity.ts';
import { keyOf, parseInput, toStored } from '../design/item.ts';
import { builderOf } from './item-builder.ts';

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
  return putStored(entity, storedItem(entity, input, options), options, nowMs);
}

/** The item as it is stored. Validates it against its schema. */
export const storedItem = (entity: AnyEntity, input: object, { ifVersion }: PutOptions<never>): Attributes =>
  builderOf(entity)(input, ifVersion) ??
  toStored(entity, parseInput(entity, complete(entity, input, ifVersion)));

export const putStored = (
  entity: AnyEntity,
  Item: Attributes,
  options: PutOptions<never>,
  nowMs: number,
): Omit<PutInput, 'ReturnValues'> => ({
  TableName: entity.table.name,
  Item: present(Item),
  ...guard(entity, putPresence(options), options, nowMs),
});

// A builder names every attribute, also those that the item does not have.
const present = (item: Attributes): Attributes =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));

const putPresence = ({ ifAbsent, ifNew }: PutOptions<never>): Presence =>
  ifAbsent || ifNew ? 'absent' : 'any';

/** The same as data. */
export const preparePut = (
  entity: AnyEntity,
  item: Attributes,
  options: PutOptions<never>,
  nowMs: number,
): PreparedPut => ({
  kind: 'put',
  table: entity.table.name,
  item,
  condition: guardTest(entity, putPresence(options), options, nowMs),
});

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
  ...guard(entity, deletePresence(options), options, nowMs),
});

const deletePresence = ({ ifPresent }: DeleteOptions<never>): Presence => (ifPresent ? 'present' : 'own');

/** The same as data. */
export const prepareDelete = (
  entity: AnyEntity,
  key: object,
  options: DeleteOptions<never>,
  nowMs: number,
): PreparedWrite => ({
  kind: 'delete',
  table: entity.table.name,
  key: keyOf(entity, key),
  condition: guardTest(entity, deletePresence(options), options, nowMs),
});

/** The ConditionCheck of a transaction for an item of the entity. */
export const checkParams = (entity: AnyEntity, key: object, options: CheckOptions<never>, nowMs: number) => ({
  TableName: entity.table.name,
  Key: keyOf(entity, key),
  ...(guard(entity, checkPresence(options), checkGuards(options), nowMs) as Conditional & {
    ConditionExpression: string;
  }),
});

const checkPresence = (options: CheckOptions<never>): Presence =>
  'absent' in options ? 'absent' : 'present';
const checkGuards = (options: CheckOptions<never>): Guards<never> =>
  'if' in options ? { if: options.if } : {};

/** The same as data. */
export const prepareCheck = (
  entity: AnyEntity,
  key: object,
  options: CheckOptions<never>,
  nowMs: number,
): PreparedWrite => ({
  kind: 'check',
  table: entity.table.name,
  key: keyOf(entity, key),
  condition: guardTest(entity, checkPresence(options), checkGuards(options), nowMs),
});

function guard(entity: AnyEntity, presence: Presence, guards: Guards<never>, nowMs: number): Conditional {
  if (presence === 'any' && guards.if === undefined && guards.ifVersion === undefined) return none;
  const expression = createExpression();
  const text = guardText(expression, entity, presence, guards, nowMs);
  return text === undefined ? none : bindPlaceholders(conditional(text), expression);
}

const none: Conditional = {};
