import type { Conditional } from './client.ts';
import { type Condition, conditionText } from './condition.ts';
import type { AnyEntity } from './entity.ts';
import { itemRefused } from './errors.ts';
import { type Expression, nameIn, valueIn } from './expression.ts';

// What has to hold of the stored item for a write to be made.
export type Guards<Item> = {
  if?: Condition<Item>;
  ifVersion?: number;
};

// 'present': there is such an item. 'absent': there is none. 'own': whatever is there is of this entity.
export type Presence = 'present' | 'absent' | 'own' | 'any';

export function guardText(
  expression: Expression,
  entity: AnyEntity,
  presence: Presence,
  guards: Guards<never>,
  nowMs: number,
): string | undefined {
  const texts = presenceTexts(expression, entity, presence, nowMs);
  if (guards.ifVersion !== undefined) {
    if (entity.version === undefined) throw itemRefused(`${entity.name} has no version to compare`);
    texts.push(`${nameIn(expression, entity.version)} = ${valueIn(expression, guards.ifVersion)}`);
  }
  if (guards.if) texts.push(`(${conditionText(expression, guards.if)})`);
  return texts.length === 0 ? undefined : texts.join(' AND ');
}

function presenceTexts(
  expression: Expression,
  { key, table, hasTtl, kind, sharesKeys }: AnyEntity,
  presence: Presence,
  nowMs: number,
): string[] {
  if (presence === 'any' || (presence === 'own' && !sharesKeys)) return [];
  const partition = nameIn(expression, key.partition);
  const ttl = hasTtl ? table.ttl : undefined;
  if (presence === 'absent') {
    const absent = `attribute_not_exists(${partition})`;
    return [ttl === undefined ? absent : `(${absent} OR ${expiryText(expression, ttl, '<=', nowMs)})`];
  }
  const own = sharesKeys ? kindText(expression, kind) : undefined;
  if (presence === 'own') return [`(attribute_not_exists(${partition}) OR ${own})`];
  const texts = [`attribute_exists(${partition})`];
  if (own !== undefined) texts.push(own);
  if (ttl !== undefined)
    texts.push(
      `(attribute_not_exists(${nameIn(expression, ttl)}) OR ${expiryText(expression, ttl, '>', nowMs)})`,
    );
  return texts;
}

// Expired items are as good as gone for writes, too.
const expiryText = (expression: Expression, ttl: string, operator: '<=' | '>', nowMs: number): string =>
  `${nameIn(expression, ttl)} ${operator} ${valueIn(expression, Math.floor(nowMs / 1000))}`;

const kindText = (expression: Expression, kind: string | undefined): string =>
  kind === undefined
    ? `attribute_not_exists(${nameIn(expression, 'kind')})`
    : `${nameIn(expression, 'kind')} = ${valueIn(expression, kind)}`;

// The item that was in the way comes back with the refusal, at no cost.
export const conditional = (text: string | undefined): Conditional =>
  text === undefined ? {} : { ConditionExpression: text, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
