import { describe, expect, it } from 'vitest';
import { message, messagesOfUser, receipt, total, unreadMessages, user } from '../../test/example-table.ts';
import { and, is, not, or } from '../index.ts';
import { queryParams } from '../store/query.ts';
import { deleteParams, putParams } from '../writes/params.ts';
import { updateParams } from './update.ts';

const ann = { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' };
const m1 = { ...ann, id: 'm1' };
const nowMs = 1_000_000;
const update = (entity: Parameters<typeof updateParams>[0], change: object, options: object = {}) =>
  updateParams(entity, m1, change as never, options as never, nowMs);

describe('requests', () => {
  it('express an update in DynamoDB’s syntax', () => {
    expect(
      update(message, { set: { title: 'Hi' }, remove: ['readat'] }, { if: { status: is.not('draft') } }),
    ).toEqual({
      TableName: 'example-inbox',
      Key: { pk: 't#acmeU#ann#main', sk: 'm#m1' },
      UpdateExpression: 'SET #n0 = :v0 REMOVE #n1',
      ConditionExpression:
        'attribute_exists(#n2) AND #n3 = :v1 AND (attribute_not_exists(#n4) OR #n4 > :v2) AND (#n5 <> :v3)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      ExpressionAttributeNames: {
        '#n0': 'title',
        '#n1': 'readat',
        '#n2': 'pk',
        '#n3': 'kind',
        '#n4': 'expiredat',
        '#n5': 'status',
      },
      ExpressionAttributeValues: { ':v0': 'Hi', ':v1': 'UM', ':v2': 1000, ':v3': 'draft' },
    });
  });

  it('have the same text for the same shape, so that parsers can cache it', () => {
    const texts = ['a', 'b'].map(title => {
      const params = update(message, { set: { title } }, { if: or({ title }, { readat: is.absent }) });
      return [params.UpdateExpression, params.ConditionExpression, params.ExpressionAttributeNames];
    });
    expect(texts[0]).toEqual(texts[1]);
  });

  it('keep added conditions apart from the caller’s', () => {
    const options = { upsert: true, current: { shard: 1 }, if: or({ title: 'a' }, { title: 'b' }) };
    expect(update(message, { set: { dueat: 1 } }, options).ConditionExpression).toMatch(
      / AND \(\(#n\d+ = :v\d+\) OR \(#n\d+ = :v\d+\)\) AND #n\d+ = :v\d+$/,
    );
  });

  it('have no redundant parentheses, which DynamoDB refuses', () => {
    const condition = and(not(or({ title: 'a' })), and(or({ title: 'b' })));
    expect(update(message, { set: { title: 'c' } }, { if: condition }).ConditionExpression).toMatch(
      / AND \(\(NOT \(#n\d+ = :v\d+\)\) AND \(#n\d+ = :v\d+\)\)$/,
    );
  });

  it('have no condition if there is none', () => {
    const params = putParams(total, { ...ann, published: 1 }, {}, nowMs);
    expect(params).toEqual({
      TableName: 'example-inbox',
      Item: { ...ann, published: 1, kind: 'US', pk: 't#acmeU#ann#main', sk: 'c#*' },
    });
    expect(deleteParams(total, ann, {}, nowMs)).toEqual({
      TableName: 'example-inbox',
      Key: { pk: 't#acmeU#ann#main', sk: 'c#*' },
    });
  });

  it('do not change the caller’s objects', () => {
    const item = Object.freeze({ ...m1, title: 'Hi' });
    putParams(message, item, {}, nowMs);
    const change = Object.freeze({ set: Object.freeze({ title: 'x' }), remove: Object.freeze(['readat']) });
    update(message, change);
  });

  it('query a prefix, with the filters of the pattern and of the call', () => {
    expect(queryParams(messagesOfUser, ann).input).toEqual({
      TableName: 'example-inbox',
      KeyConditionExpression: '#n0 = :v0 AND begins_with(#n1, :v1)',
      ScanIndexForward: false,
      ExpressionAttributeNames: { '#n0': 'pk', '#n1': 'sk' },
      ExpressionAttributeValues: { ':v0': 't#acmeU#ann#main', ':v1': 'm#' },
    });
    const { input } = queryParams(unreadMessages, ann, { filter: { title: 'x' } as never });
    expect(input.FilterExpression).toBe('((attribute_not_exists(#n2)) OR (#n2 = :v2)) AND (#n3 = :v3)');
  });
});

describe('updates that cannot be right are refused before anything is sent', () => {
  it.each([
    ['a key part', message, { set: { uid: 'bob' } }, /part of the key/],
    ['a key part', message, { remove: ['uid'] }, /part of the key/],
    ['the version', user, { set: { version: 7 } }, /counted by every write/],
    ['an unknown attribute', message, { set: { subject: 'x' } }, /does not exist/],
    ['a value the schema refuses', message, { set: { status: 'lost' } }, /is not valid/],
    ['a value the schema refuses', message, { setOnce: { readat: 'x' } }, /is not valid/],
    ['nothing', message, {}, /changes nothing/],
    ['nothing', message, { set: { title: undefined } }, /changes nothing/],
    ['an index key it cannot know', message, { setOnce: { dueat: 1 } }, /use set/],
    ['an index key it cannot know', message, { add: { dueat: 1 } }, /use set/],
    ['half of an index key', message, { set: { dueat: 1 } }, /also needs shard/],
    ['an empty condition', receipt, { set: { readat: 1 } }, /compares nothing/, { if: {} }],
  ])('%s', (_, entity, change, message, options: object = {}) => {
    expect(() => update(entity, change, options)).toThrow(message);
  });
});
