import fc from 'fast-check';
import { bind, type Json, nonsense } from './fragments.ts';
import type { Request } from './request-values.ts';

// A sound request with one thing wrong.
export function mistakes(sound: fc.Arbitrary<Request>): fc.Arbitrary<Request> {
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
