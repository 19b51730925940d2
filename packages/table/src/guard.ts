import type { Conditional } from './client.ts';
import { type Condition, conditionText } from './condition.ts';
import type { AnyEntity } from './entity.ts';
import { itemRefused } from './errors.ts';
import { type Expression, nameIn, valueIn } from './expression.ts';

// What must hold for the stored item before a write.
export type Guards<Item> = {
  if?: Condition<Item>;
  ifVersion?: number;
};

// 'present': the item exists. 'absent': it does not. 'own': if it exists, it belongs to this entity.
export type Presence = 'present' | 'absent' | 'own' | 'any';

export function guardText(
  expression: Expression,
  entity: AnyEntity,
  presence: Presence,
  guards: Guards<never>,
  nowMs: number,
): string | undefined {
  let text = presenceText(expression, entity, presence, nowMs);
  if (guards.ifVersion !== undefined) {
    if (entity.version === undefined) throw itemRefused(`${entity.name} has no version to compare`);
    const version = `${nameIn(expression, entity.version)} = ${valueIn(expression, guards.ifVersion)}`;
    text = text === undefined ? version : `${text} AND ${version}`;
  }
  if (guards.if) {
    const condition = `(${conditionText(expression, guards.if)})`;
    text = text === undefined ? condition : `${text} AND ${condition}`;
  }
  return text;
}

function presenceText(
  expression: Expression,
  { key, table, hasTtl, kind, sharesKeys }: AnyEntity,
  presence: Presence,
  nowMs: number,
): string | undefined {
  if (presence === 'any' || (presence === 'own' && !sharesKeys)) return undefined;
  const partition = nameIn(expression, key.partition);
  const ttl = hasTtl ? table.ttl : undefined;
  if (presence === 'absent') {
    const absent = `attribute_not_exists(${partition})`;
    return ttl === undefined ? absent : `(${absent} OR ${expiryText(expression, ttl, '<=', nowMs)})`;
  }
  if (presence === 'own') return `(attribute_not_exists(${partition}) OR ${kindText(expression, kind)})`;
  let text = `attribute_exists(${partition})`;
  if (sharesKeys) text += ` AND ${kindText(expression, kind)}`;
  if (ttl !== undefined) {
    const endless = `attribute_not_exists(${nameIn(expression, ttl)})`;
    text += ` AND (${endless} OR ${expiryText(expression, ttl, '>', nowMs)})`;
  }
  return text;
}

// Writes also treat expired items as absent.
const expiryText = (expression: Expression, ttl: string, operator: '<=' | '>', nowMs: number): string =>
  `${nameIn(expression, ttl)} ${operator} ${valueIn(expression, Math.floor(nowMs / 1000))}`;

const kindText = (expression: Expression, kind: string | undefined): string =>
  kind === undefined
    ? `attribute_not_exists(${nameIn(expression, 'kind')})`
    : `${nameIn(expression, 'kind')} = ${valueIn(expression, kind)}`;

// DynamoDB returns the item with the refusal, at no cost.
export const conditional = (text: string | undefined): Conditional =>
  text === undefined ? {} : { ConditionExpression: text, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
