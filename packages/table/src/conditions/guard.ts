import type { Conditional } from '../client/client.ts';
import { type PreparedTest, unprepared } from '../client/prepared.ts';
import type { AnyEntity } from '../design/entity.ts';
import { itemRefused } from '../errors.ts';
import { type Condition, conditionTest, conditionText } from './condition.ts';
import { type Expression, nameIn, valueIn } from './expression.ts';

// Conditions on the stored item before a write.
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

// The same as data.
export function guardTest(
  entity: AnyEntity,
  presence: Presence,
  guards: Guards<never>,
  nowMs: number,
): PreparedTest | undefined {
  const tests: PreparedTest[] = [];
  presenceTests(tests, entity, presence, nowMs);
  if (guards.ifVersion !== undefined) {
    if (entity.version === undefined) throw unprepared;
    tests.push({ op: '=', path: entity.version, value: guards.ifVersion });
  }
  if (guards.if) tests.push(conditionTest(guards.if));
  return allOf(tests);
}

export const allOf = (tests: readonly PreparedTest[]): PreparedTest | undefined =>
  tests.length > 1 ? { op: 'and', tests } : tests[0];

function presenceTests(
  tests: PreparedTest[],
  { key, table, hasTtl, kind, sharesKeys }: AnyEntity,
  presence: Presence,
  nowMs: number,
): void {
  if (presence === 'any' || (presence === 'own' && !sharesKeys)) return;
  const ttl = hasTtl ? table.ttl : undefined;
  const nowS = Math.floor(nowMs / 1000);
  const isAbsent: PreparedTest = { op: 'attribute_not_exists', path: key.partition };
  const hasKind: PreparedTest =
    kind === undefined
      ? { op: 'attribute_not_exists', path: 'kind' }
      : { op: '=', path: 'kind', value: kind };
  switch (presence) {
    case 'absent':
      if (ttl === undefined) tests.push(isAbsent);
      else tests.push({ op: 'or', tests: [isAbsent, { op: '<=', path: ttl, value: nowS }] });
      return;
    case 'own':
      tests.push({ op: 'or', tests: [isAbsent, hasKind] });
      return;
  }
  tests.push({ op: 'attribute_exists', path: key.partition });
  if (sharesKeys) tests.push(hasKind);
  if (ttl !== undefined) {
    const isEndless: PreparedTest = { op: 'attribute_not_exists', path: ttl };
    tests.push({ op: 'or', tests: [isEndless, { op: '>', path: ttl, value: nowS }] });
  }
}
