import fc from 'fast-check';
import {
  attributes,
  bind,
  condition,
  type Fragment,
  type Json,
  projection,
  update,
  value,
} from './fragments.ts';
import { legacy } from './legacy-requests.ts';
import { mistakes } from './mistakes.ts';
import { hashValues, keyValues, optional, type Request, withoutUndefined } from './request-values.ts';
import type { KeyKind, TableKind } from './tables.ts';

const capacity = optional(fc.constantFrom('NONE', 'TOTAL', 'INDEXES'), 3);

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

const inSitu = (json: Json): string => `«${JSON.stringify(json)}»`;

const rangeCondition = (name: string, type: KeyKind): Fragment => {
  const literal = keyValues[type].map(inSitu);
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
        hashText: value.map(json => `${hash} = ${inSitu(json)}`),
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

// In transactions dynoxide compares numbers by their text, so those are sent as they are stored.
const inPlainNumbers = <T>(json: T): T =>
  JSON.parse(
    JSON.stringify(json).replaceAll('"0.10"', '"0.1"').replaceAll('"1e2"', '"100"').replaceAll('"+3"', '"3"'),
  ) as T;

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
        input: { TransactItems: inPlainNumbers(TransactItems) },
      })),
      weight: 3,
    },
    fc.array(read, { minLength: 1, maxLength: 3 }).map(TransactItems => ({
      operation: 'TransactGetItems',
      input: { TransactItems },
    })),
  );
}
