import type { Conditional } from './client.ts';
import { type Condition, conditionText } from './condition.ts';
import type { AnyEntity } from './entity.ts';
import { itemRefused } from './errors.ts';
import type { Expression } from './expression.ts';

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
    texts.push(`${expression.name(entity.version)} = ${expression.value(guards.ifVersion)}`);
  }
  if (guards.if) texts.push(`(${conditionText(expression, guards.if)})`);
  return texts.length === 0 ? undefined : texts.join(' AND ');
}

function presenceTexts(
  expression: Expression,
  entity: AnyEntity,
  presence: Presence,
  nowMs: number,
): string[] {
  const { key, table, hasTtl, kind, sharesKeys } = entity;
  // Expired items are as good as gone for writes, too.
  const expiry = (operator: '<=' | '>') =>
    `${expression.name(table.ttl!)} ${operator} ${expression.value(Math.floor(nowMs / 1000))}`;
  switch (presence) {
    case 'absent': {
      const absent = `attribute_not_exists(${expression.name(key.partition)})`;
      return [hasTtl ? `(${absent} OR ${expiry('<=')})` : absent];
    }
    case 'present': {
      const present = `attribute_exists(${expression.name(key.partition)})`;
      const own = sharesKeys && kindText(expression, kind);
      const alive = hasTtl && `(attribute_not_exists(${expression.name(table.ttl!)}) OR ${expiry('>')})`;
      return [present, own, alive].filter(text => text !== false);
    }
    case 'own': {
      if (!sharesKeys) return [];
      const own = kindText(expression, kind);
      return kind === undefined
        ? [own]
        : [`(attribute_not_exists(${expression.name(key.partition)}) OR ${own})`];
    }
    case 'any':
      return [];
  }
}

const kindText = (expression: Expression, kind: string | undefined): string =>
  kind === undefined
    ? `attribute_not_exists(${expression.name('kind')})`
    : `${expression.name('kind')} = ${expression.value(kind)}`;

// The item that was in the way comes back with the refusal, at no cost.
export const conditional = (text: string | undefined): Conditional =>
  text === undefined ? {} : { ConditionExpression: text, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
