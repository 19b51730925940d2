import fc from 'fast-check';
import {
  attributes,
  binaries,
  bind,
  condition,
  type Fragment,
  type Json,
  nonsense,
  numbers,
  projection,
  strings,
  update,
  value,
} from './fragments.ts';
import type { KeyKind, TableKind } from './tables.ts';

// `paged` requests are followed to their last page. Where the range key leaves the order open, `order` names it.
export type Request = { operation: string; input: Json; paged?: boolean; order?: string };

const keyValues: Record<KeyKind, fc.Arbitrary<Json>> = {
  S: fc.record({ S: strings.filter(Boolean) }),
  N: fc.record({ N: numbers }),
  B: fc.record({ B: binaries.filter(Boolean) }),
};
// Partitions are few, so that they hold something.
const hashValues: Record<KeyKind, fc.Arbitrary<Json>> = {
  S: fc.constantFrom({ S: 'p' }, { S: 'q' }),
  N: fc.constantFrom({ N: '1' }, { N: '1.0' }, { N: '2' }, { N: '-3' }, { N: '4' }),
  B: fc.constantFrom({ B: 'AA==' }, { B: 'AP8=' }),
};

// Left out `absent` times for each time it is there.
const optional = <T>(arbitrary: fc.Arbitrary<T>, absent = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: absent }, { arbitrary, weight: 1 });
const capacity = optional(fc.constantFrom('NONE', 'TOTAL', 'INDEXES'), 3);
const withoutUndefined = (input: Json): Json =>
  Object.fromEntries(Object.entries(input).filter(([, member]) => member !== undefined));

export const requestsOn = (kind: TableKind): fc.Arbitrary<Request> => {
  const key: fc.Arbitrary<Json> = fc.record({
    pk: hashValues[kind.pk],
    ...(kind.sk && { sk: keyValues[kind.sk] }),
  });
  const rest = fc.record({ ...attributes, f: value }, { requiredKeys: [] });
  const item = fc.tuple(rest, key).map(([filling, target]) => ({ ...filling, ...target }));
  const TableName = '@';

  const expressions = (parts: Record<string, fc.Arbitrary<string | undefined>>) =>
    fc.record(parts).map(fragments => {
      const { texts, names, values } = bind(fragments);
      return {
        ...texts,
        ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
        ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      };
    });
  const request = (operation: string, ...parts: fc.Arbitrary<Json>[]): fc.Arbitrary<Request> =>
    fc
      .tuple(...parts)
      .map(all => ({ operation, input: withoutUndefined(Object.assign({ TableName }, ...all)) }));

  const failure = fc.record({
    ReturnValuesOnConditionCheckFailure: optional(fc.constantFrom('ALL_OLD', 'NONE'), 1),
  });
  const answers = (...kinds: string[]) =>
    fc.record({ ReturnValues: optional(fc.constantFrom(...kinds), 1), ReturnConsumedCapacity: capacity });
  const guard = (text: Fragment = condition) => expressions({ ConditionExpression: optional(text, 1) });

  const put = request('PutItem', fc.record({ Item: item }), guard(), answers('ALL_OLD', 'NONE'), failure);
  const del = request('DeleteItem', fc.record({ Key: key }), guard(), answers('ALL_OLD', 'NONE'), failure);
  const change = request(
    'UpdateItem',
    fc.record({ Key: key }),
    expressions({
      UpdateExpression: fc.option(update, { nil: undefined, freq: 20 }),
      ConditionExpression: optional(condition, 1),
    }),
    answers('ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW', 'NONE'),
    failure,
  );
  const get = request(
    'GetItem',
    fc.record({ Key: key, ConsistentRead: optional(fc.boolean()), ReturnConsumedCapacity: capacity }),
    expressions({ ProjectionExpression: optional(projection, 1) }),
  );

  return fc.oneof(
    { arbitrary: put, weight: 6 },
    { arbitrary: change, weight: 8 },
    { arbitrary: del, weight: 2 },
    { arbitrary: get, weight: 2 },
    { arbitrary: queries(kind), weight: 6 },
    { arbitrary: scans(kind), weight: 2 },
    { arbitrary: batches(key, item), weight: 2 },
    { arbitrary: transactions(key, item), weight: 4 },
    { arbitrary: legacy(kind, key, item), weight: 4 },
    { arbitrary: mistakes(fc.oneof(put, change, del, get, queries(kind), scans(kind))), weight: 3 },
  );
};

const inPlace = (json: Json): string => `«${JSON.stringify(json)}»`;

const rangeCondition = (name: string, type: KeyKind): Fragment => {
  const literal = keyValues[type].map(inPlace);
  return fc.oneof(
    fc.tuple(fc.constantFrom('=', '<', '<=', '>', '>='), literal).map(([op, v]) => `${name} ${op} ${v}`),
    fc.tuple(literal, literal).map(([v, w]) => `${name} BETWEEN ${v} AND ${w}`),
    literal.map(v => `begins_with(${name}, ${v})`),
  );
};

const reading = fc.record({
  Limit: optional(fc.constantFrom(1, 2, 3, 100), 1),
  ConsistentRead: optional(fc.boolean(), 4),
  Select: optional(
    fc.constantFrom('COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'SPECIFIC_ATTRIBUTES'),
    6,
  ),
  ReturnConsumedCapacity: optional(fc.constantFrom('TOTAL', 'INDEXES'), 4),
});

function boundInput(fragments: Record<string, string | undefined>, rest: Json): Json {
  const { texts, names, values } = bind(fragments);
  return withoutUndefined({
    TableName: '@',
    ...rest,
    ...texts,
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  });
}

function queries(kind: TableKind): fc.Arbitrary<Request> {
  const types: Record<string, KeyKind> = {
    pk: kind.pk,
    ...(kind.sk && { sk: kind.sk }),
    a: 'S',
    b: 'N',
    c: 'S',
  };
  const targets = [
    { name: undefined, hash: 'pk', range: kind.sk && 'sk' },
    ...kind.indexes.map(({ name, hash, range }) => ({ name, hash, range })),
  ];
  return fc.constantFrom(...targets).chain(({ name, hash, range }) => {
    const value = hash === 'pk' ? hashValues[kind.pk] : keyValues[types[hash]!];
    return fc
      .record({
        hashText: value.map(json => `${hash} = ${inPlace(json)}`),
        rangeText: range ? optional(rangeCondition(range, types[range]!), 2) : fc.constant(undefined),
        filter: optional(condition, 1),
        shown: optional(projection, 1),
        forward: optional(fc.boolean(), 1),
        more: reading,
      })
      .map(({ hashText, rangeText, filter, shown, forward, more }) => ({
        operation: 'Query',
        paged: true,
        ...(name && { order: range ?? '' }),
        input: boundInput(
          {
            KeyConditionExpression: rangeText ? `${hashText} AND ${rangeText}` : hashText,
            FilterExpression: filter,
            ProjectionExpression: shown,
          },
          // dynoxide never ends when it pages through a table without a range key.
          {
            IndexName: name,
            ScanIndexForward: forward,
            ...more,
            ...(!name && !range && { Limit: undefined }),
          },
        ),
      }));
  });
}

function scans(kind: TableKind): fc.Arbitrary<Request> {
  return fc
    .record({
      IndexName: optional(fc.constantFrom(undefined, ...kind.indexes.map(({ name }) => name)), 1),
      filter: optional(condition, 1),
      shown: optional(projection, 1),
      more: reading,
    })
    .map(({ IndexName, filter, shown, more }) => ({
      operation: 'Scan',
      paged: true,
      order: '',
      input: boundInput({ FilterExpression: filter, ProjectionExpression: shown }, { IndexName, ...more }),
    }));
}

function batches(key: fc.Arbitrary<Json>, item: fc.Arbitrary<Json>): fc.Arbitrary<Request> {
  const write = fc.oneof(
    item.map(Item => ({ PutRequest: { Item } })),
    key.map(Key => ({ DeleteRequest: { Key } })),
  );
  return fc.oneof(
    fc.array(write, { minLength: 1, maxLength: 4 }).map(requests => ({
      operation: 'BatchWriteItem',
      input: { RequestItems: { '@': requests } },
    })),
    fc.tuple(fc.array(key, { minLength: 1, maxLength: 4 }), optional(projection, 1)).map(([Keys, shown]) => {
      const { texts, names } = bind({ ProjectionExpression: shown });
      const entry = {
        Keys,
        ...texts,
        ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      };
      return { operation: 'BatchGetItem', input: { RequestItems: { '@': entry } } };
    }),
  );
}

function transactions(key: fc.Arbitrary<Json>, item: fc.Arbitrary<Json>): fc.Arbitrary<Request> {
  const failure = fc.constantFrom(undefined, 'ALL_OLD', 'NONE');
  const guarded = (
    fragments: Record<string, string | undefined>,
    target: Json,
    onFailure: string | undefined,
  ) => boundInput(fragments, { ...target, ReturnValuesOnConditionCheckFailure: onFailure });
  const action: fc.Arbitrary<Json> = fc.oneof(
    fc.tuple(item, optional(condition, 1), failure).map(([Item, ConditionExpression, on]) => ({
      Put: guarded({ ConditionExpression }, { Item }, on),
    })),
    fc
      .tuple(key, update, optional(condition, 2), failure)
      .map(([Key, UpdateExpression, ConditionExpression, on]) => ({
        Update: guarded({ UpdateExpression, ConditionExpression }, { Key }, on),
      })),
    fc.tuple(key, optional(condition, 1), failure).map(([Key, ConditionExpression, on]) => ({
      Delete: guarded({ ConditionExpression }, { Key }, on),
    })),
    fc.tuple(key, condition, failure).map(([Key, ConditionExpression, on]) => ({
      ConditionCheck: guarded({ ConditionExpression }, { Key }, on),
    })),
  );
  const read = fc.tuple(key, optional(projection, 1)).map(([Key, ProjectionExpression]) => ({
    Get: boundInput({ ProjectionExpression }, { Key }),
  }));
  return fc.oneof(
    {
      arbitrary: fc.array(action, { minLength: 1, maxLength: 3 }).map(TransactItems => ({
        operation: 'TransactWriteItems',
        input: { TransactItems },
      })),
      weight: 3,
    },
    fc.array(read, { minLength: 1, maxLength: 3 }).map(TransactItems => ({
      operation: 'TransactGetItems',
      input: { TransactItems },
    })),
  );
}

function legacy(kind: TableKind, key: fc.Arbitrary<Json>, item: fc.Arbitrary<Json>): fc.Arbitrary<Request> {
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

// A sound request with one thing wrong.
function mistakes(sound: fc.Arbitrary<Request>): fc.Arbitrary<Request> {
  const texts = [
    'ConditionExpression',
    'UpdateExpression',
    'FilterExpression',
    'KeyConditionExpression',
    'ProjectionExpression',
  ];
  const alterations: fc.Arbitrary<(input: Json) => Json> = fc.oneof(
    fc.nat(5).map(n => (input: Json) => {
      const names = Object.keys(input);
      const { [names[n % names.length]!]: _, ...rest } = input;
      return rest;
    }),
    fc.tuple(fc.constantFrom(...texts), nonsense).map(([name, text]) => (input: Json) => ({
      ...input,
      ...bindInto(input, name, text),
    })),
    fc
      .constantFrom<Json>(
        { TableName: 'nowhere' },
        { TableName: 'x' },
        { ReturnValues: 'SOME' },
        { Limit: 0 },
        { IndexName: 'nowhere' },
        { Select: 'EVERYTHING' },
        { ReturnConsumedCapacity: 'ALL' },
        { ExpressionAttributeNames: { '#unused': 'a' } },
        { ExpressionAttributeNames: {} },
        { ExpressionAttributeValues: {} },
        { ExpressionAttributeValues: { ':unused': { S: 'x' } } },
        { ExpressionAttributeValues: { unused: { S: 'x' } } },
        { ExpressionAttributeValues: { ':v0': { N: 'x' } } },
        { ExpressionAttributeValues: { ':v0': { SS: [] } } },
        { ExpressionAttributeValues: { ':v0': { SS: ['a', 'a'] } } },
        { Key: {} },
        { Key: { pk: { S: '' } } },
        { Key: { pk: { S: 'p' }, sk: { S: 'a' }, x: { S: 'a' } } },
        { Key: { pk: { BOOL: true } } },
        { Item: {} },
        { Item: { pk: { S: '' }, sk: { S: '' } } },
        { Item: { pk: { S: 'p' }, sk: { S: 'a' }, a: { N: '1' } } },
        { Item: { pk: { S: 'p' }, sk: { S: 'a' }, a: { S: '' } } },
        { Item: { pk: { S: 'p' }, sk: { S: 'a' }, x: { N: '1e130' } } },
        { Item: { pk: { S: 'p' }, sk: { S: 'a' }, x: { NS: ['1', '1.0'] } } },
        { Item: { pk: { S: 'p' }, sk: { S: 'a' }, x: { S: 'a', N: '1' } } },
        { Item: { pk: { S: 'p' }, sk: { S: 'a' }, x: {} } },
        { Expected: { a: { Value: { S: 'x' } } } },
        { AttributeUpdates: { a: { Value: { S: 'x' } } } },
        { AttributesToGet: ['a'] },
        { AttributesToGet: ['a', 'a'] },
        { ExclusiveStartKey: { pk: { S: 'p' } } },
        { ExclusiveStartKey: { pk: { S: 'p' }, sk: { S: 'zz' } } },
        { Segment: 3, TotalSegments: 2 },
        { Segment: 0 },
        { ConditionalOperator: 'OR' },
      )
      .map(more => (input: Json) => ({ ...input, ...more })),
  );
  return fc
    .tuple(sound, alterations)
    .map(([request, alter]) => ({ ...request, input: alter(request.input) }));
}

function bindInto(input: Json, name: string, text: string): Json {
  const { texts, names, values } = bind({ [name]: text });
  const old = (member: string) => (input[member] ?? {}) as Json;
  return {
    ...texts,
    ...(Object.keys(names).length > 0 && {
      ExpressionAttributeNames: { ...old('ExpressionAttributeNames'), ...names },
    }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}
