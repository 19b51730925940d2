import fc from 'fast-check';
import { type Json, value } from './fragments.ts';
import { hashValues, keyValues, optional, type Request, withoutUndefined } from './request-values.ts';
import type { TableKind } from './tables.ts';

// The parameters that expressions replaced.
export function legacy(
  kind: TableKind,
  key: fc.Arbitrary<Json>,
  item: fc.Arbitrary<Json>,
): fc.Arbitrary<Request> {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'f');
  const operators: Record<string, number> = {
    EQ: 1,
    NE: 1,
    LT: 1,
    LE: 1,
    GT: 1,
    GE: 1,
    BEGINS_WITH: 1,
    CONTAINS: 1,
    NOT_CONTAINS: 1,
    NULL: 0,
    NOT_NULL: 0,
    BETWEEN: 2,
    IN: 2,
  };
  const comparison = fc.constantFrom(...Object.keys(operators)).chain(ComparisonOperator =>
    fc
      .array(value, {
        minLength: operators[ComparisonOperator]!,
        maxLength: operators[ComparisonOperator]!,
      })
      .map(list => ({ ComparisonOperator, ...(list.length > 0 && { AttributeValueList: list }) })),
  );
  const comparisons = fc.dictionary(name, comparison, { minKeys: 1, maxKeys: 2, noNullPrototype: true });
  const expectation = fc.oneof(
    comparison,
    value.map(Value => ({ Value })),
    fc.constant({ Exists: false }),
  );
  const expected = fc.dictionary(name, expectation, { minKeys: 1, maxKeys: 2, noNullPrototype: true });
  const operator = optional(fc.constantFrom('AND', 'OR'), 2);
  const updates = fc.dictionary(
    name,
    fc.oneof(
      value.map(Value => ({ Value })),
      fc.record({ Action: fc.constantFrom('PUT', 'ADD', 'DELETE'), Value: value }),
      fc.constant({ Action: 'DELETE' }),
    ),
    { minKeys: 1, maxKeys: 2, noNullPrototype: true },
  );
  const got = fc.uniqueArray(fc.constantFrom('pk', 'a', 'd', 'e'), { minLength: 1, maxLength: 3 });
  const conditions = fc
    .tuple(
      hashValues[kind.pk],
      kind.sk ? keyValues[kind.sk] : fc.constant({ S: 'x' }),
      fc.constantFrom('EQ', 'LT', 'GE', 'BEGINS_WITH'),
    )
    .map(([hash, range, op]) => ({
      pk: { ComparisonOperator: 'EQ', AttributeValueList: [hash] },
      ...(kind.sk && { sk: { ComparisonOperator: op, AttributeValueList: [range] } }),
    }));
  const ReturnValues = fc.constantFrom('ALL_OLD', 'NONE');
  const as = (operation: string, parts: Record<string, fc.Arbitrary<unknown>>, more: Partial<Request> = {}) =>
    fc
      .record(parts)
      .map(input => ({ operation, input: withoutUndefined({ TableName: '@', ...input }), ...more }));
  return fc.oneof(
    as('PutItem', { Item: item, Expected: expected, ConditionalOperator: operator, ReturnValues }),
    as('DeleteItem', { Key: key, Expected: expected, ConditionalOperator: operator, ReturnValues }),
    as('UpdateItem', {
      Key: key,
      AttributeUpdates: updates,
      Expected: optional(expected, 1),
      ReturnValues: fc.constantFrom('ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW', 'NONE'),
    }),
    as('GetItem', { Key: key, AttributesToGet: got }),
    as(
      'Query',
      { KeyConditions: conditions, QueryFilter: optional(comparisons, 1), ConditionalOperator: operator },
      { paged: true },
    ),
    as(
      'Scan',
      { ScanFilter: comparisons, ConditionalOperator: operator, AttributesToGet: optional(got, 1) },
      { paged: true, order: '' },
    ),
  );
}
