import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type AnyQuery,
  defineQuery,
  defineTable,
  entity,
  getParams,
  is,
  putParams,
  queryParams,
} from '../src/index.ts';

// The key patterns and access patterns of the documents that Stak implements, in the words of this layer. The
// services' designs say more; this says that each of them can be said.

const text = z.string();
const shape = <Names extends string>(...names: Names[]) =>
  z.object(Object.fromEntries(names.map(name => [name, text])) as Record<Names, typeof text>);

// The request to DynamoDB in a readable form: the placeholders filled in.
function asked(query: AnyQuery, params: object, options: object = {}): string {
  const { input } = queryParams(query, params, options as never);
  const filled = [input.KeyConditionExpression, input.FilterExpression].filter(Boolean).join(' / ');
  return filled
    .replace(/#n\d+/g, name => input.ExpressionAttributeNames![name]!)
    .replace(/:v\d+/g, value => JSON.stringify(input.ExpressionAttributeValues![value]));
}

describe('the inbox', () => {
  const table = defineTable({ name: 'stak-inbox', keys: { partition: 'pk', sort: 'sk' }, ttl: 'expiredat' });
  const ids = shape('tenant_key', 'inbox_key', 'uid', 'id');
  const ofUser = 't#{tenant_key}U#{uid}#{inbox_key}';
  const ofAll = 't#{tenant_key}G#$public#{inbox_key}';
  const settings = entity(table, {
    name: 'settings',
    kind: 'TS',
    schema: ids,
    key: { partition: 't#{tenant_key}', sort: 'st#tenant_settings' },
  });
  const config = entity(table, {
    name: 'inbox config',
    kind: 'IC',
    schema: ids,
    key: { partition: 't#{tenant_key}', sort: 'si#{inbox_key}' },
  });
  const userMessage = entity(table, {
    name: 'user message',
    kind: 'UM',
    schema: ids,
    key: { partition: ofUser, sort: 'm#{id}' },
  });
  const publicMessage = entity(table, {
    name: 'public message',
    kind: 'UM',
    schema: ids.omit({ uid: true }).extend({ uid: z.literal('$public') }),
    key: { partition: ofAll, sort: 'm#{id}' },
  });
  const stats = entity(table, {
    name: 'stats',
    kind: 'US',
    schema: ids,
    key: { partition: ofUser, sort: 'c#*' },
  });
  entity(table, { name: 'public stats', kind: 'US', schema: ids, key: { partition: ofAll, sort: 'c#*' } });
  const byCategory = entity(table, {
    name: 'category stats',
    kind: 'US',
    schema: ids.extend({ category: text }),
    key: { partition: ofUser, sort: 'c#{category:text}' },
    inKeyOnly: ['category'],
  });
  const userMessages = defineQuery('user messages', { of: userMessage, newestFirst: true });
  const publicMessages = defineQuery('public messages', { of: publicMessage });
  const configuration = defineQuery('configuration', { of: [settings, config] });
  const me = { tenant_key: 'acme', uid: 'ann', inbox_key: 'main' };

  it('has its keys', () => {
    expect(getParams(settings, me).Key).toEqual({ pk: 't#acme', sk: 'st#tenant_settings' });
    expect(getParams(config, me).Key).toEqual({ pk: 't#acme', sk: 'si#main' });
    expect(getParams(publicMessage, { ...me, id: '1' }).Key).toEqual({
      pk: 't#acmeG#$public#main',
      sk: 'm#1',
    });
    expect(getParams(stats, me).Key).toEqual({ pk: 't#acmeU#ann#main', sk: 'c#*' });
    expect(getParams(byCategory, { ...me, category: '*' }).Key.sk).toBe('c#%2A');
  });

  it('supports its access patterns', () => {
    expect(asked(userMessages, me)).toBe('pk = "t#acmeU#ann#main" AND begins_with(sk, "m#")');
    expect(asked(publicMessages, me)).toBe('pk = "t#acmeG#$public#main" AND begins_with(sk, "m#")');
    expect(asked(configuration, me)).toBe('pk = "t#acme" AND begins_with(sk, "s")');
  });
});

describe('ferryhook', () => {
  const main = defineTable({
    name: 'ferryhook-main',
    keys: { partition: 'PK', sort: 'SK' },
    indexes: {
      GSI1: { partition: 'GSI1PK', sort: 'GSI1SK' },
      GSI2: { partition: 'GSI2PK', sort: 'GSI2SK' },
      GSI3: { partition: 'GSI3PK', sort: 'GSI3SK' },
    },
  });
  const user = entity(main, {
    name: 'user',
    schema: shape('userId', 'email'),
    key: { partition: 'USER#{userId}', sort: 'PROFILE' },
    indexes: { GSI1: { partition: 'EMAIL#{email}', sort: 'USER' } },
  });
  const source = entity(main, {
    name: 'source',
    schema: shape('userId', 'sourceId'),
    key: { partition: 'USER#{userId}', sort: 'SRC#{sourceId}' },
    indexes: { GSI3: { partition: 'SRCID#{sourceId}', sort: 'SOURCE' } },
  });
  const connection = entity(main, {
    name: 'connection',
    schema: shape('sourceId', 'connectionId'),
    key: { partition: 'SRC#{sourceId}', sort: 'CONN#{connectionId}' },
  });
  const apiKey = entity(main, {
    name: 'API key',
    schema: shape('userId', 'keyId', 'keyHash'),
    key: { partition: 'USER#{userId}', sort: 'KEY#{keyId}' },
    indexes: { GSI2: { partition: 'KEYHASH#{keyHash}', sort: 'KEY' } },
  });
  const events = defineTable({
    name: 'ferryhook-events',
    keys: { partition: 'PK', sort: 'SK' },
    indexes: { GSI1: { partition: 'GSI1PK', sort: 'GSI1SK' } },
    ttl: 'expiresAt',
  });
  const event = entity(events, {
    name: 'event',
    schema: shape('sourceId', 'eventId').extend({ receivedAt: z.number() }),
    key: { partition: 'SRC#{sourceId}', sort: 'EVT#{receivedAt}#{eventId}' },
    indexes: { GSI1: { partition: 'EVTID#{eventId}', sort: 'EVENT' } },
  });
  const attempt = entity(events, {
    name: 'attempt',
    schema: shape('eventId').extend({ attemptNumber: z.number() }),
    key: { partition: 'EVT#{eventId}', sort: 'ATT#{attemptNumber:4}' },
  });
  const userByEmail = defineQuery('user by e-mail', { of: user, index: 'GSI1' });
  const sources = defineQuery('sources', { of: source });
  const sourceById = defineQuery('source by id', { of: source, index: 'GSI3' });
  const connections = defineQuery('connections', { of: connection });
  const keyByHash = defineQuery('authenticate', { of: apiKey, index: 'GSI2' });
  const account = defineQuery('account', { of: [user, source, apiKey] });
  const eventsOfSource = defineQuery('events', { of: event, newestFirst: true });
  const attempts = defineQuery('attempts', { of: attempt });

  it('supports its access patterns', () => {
    expect(getParams(user, { userId: 'u1' }).Key).toEqual({ PK: 'USER#u1', SK: 'PROFILE' });
    expect(asked(userByEmail, { email: 'a@b.c' })).toBe('GSI1PK = "EMAIL#a@b.c" AND GSI1SK = "USER"');
    expect(asked(sources, { userId: 'u1' })).toBe('PK = "USER#u1" AND begins_with(SK, "SRC#")');
    expect(asked(sourceById, { sourceId: 's1' })).toBe('GSI3PK = "SRCID#s1" AND GSI3SK = "SOURCE"');
    expect(asked(connections, { sourceId: 's1' })).toBe('PK = "SRC#s1" AND begins_with(SK, "CONN#")');
    expect(asked(keyByHash, { keyHash: 'h' })).toBe('GSI2PK = "KEYHASH#h" AND GSI2SK = "KEY"');
    expect(asked(account, { userId: 'u1' })).toBe('PK = "USER#u1"');
    expect(asked(eventsOfSource, { sourceId: 's1' })).toBe('PK = "SRC#s1" AND begins_with(SK, "EVT#")');
    expect(queryParams(eventsOfSource, { sourceId: 's1' }).input.ScanIndexForward).toBe(false);
    expect(asked(attempts, { eventId: 'e1' })).toBe('PK = "EVT#e1" AND begins_with(SK, "ATT#")');
    expect(putParams(event, { sourceId: 's1', eventId: 'e1', receivedAt: 17 }, {}, 0).Item).toEqual({
      PK: 'SRC#s1',
      SK: 'EVT#17#e1',
      GSI1PK: 'EVTID#e1',
      GSI1SK: 'EVENT',
      sourceId: 's1',
      eventId: 'e1',
      receivedAt: 17,
    });
  });
});

describe('tasks', () => {
  const index = (n: number) => ({ partition: `GSI${n}PK`, sort: `GSI${n}SK` });
  const table = defineTable({
    name: 'todo-app-data',
    keys: { partition: 'PK', sort: 'SK' },
    indexes: { GSI1: index(1), GSI2: index(2), GSI3: index(3), GSI4: index(4) },
    ttl: 'ttl',
  });
  const task = entity(table, {
    name: 'task',
    schema: shape('user_id', 'task_id', 'status').extend({
      priority: text.optional(),
      category: text.optional(),
      due_date: text.optional(),
    }),
    key: { partition: 'TASK#{user_id}', sort: 'TASK#{task_id}' },
    indexes: {
      GSI1: { partition: 'USER#{user_id}', sort: 'STATUS#{status}#{task_id}' },
      GSI2: { partition: 'USER#{user_id}', sort: 'DUEDATE#{due_date}#{task_id}' },
      GSI3: { partition: 'USER#{user_id}', sort: 'PRIORITY#{priority}#{task_id}' },
      GSI4: { partition: 'USER#{user_id}', sort: 'CATEGORY#{category:text}#{task_id}' },
    },
  });
  entity(table, {
    name: 'user',
    schema: shape('user_id'),
    key: { partition: 'USER#{user_id}', sort: 'METADATA' },
  });
  entity(table, {
    name: 'idempotency',
    schema: shape('request_id'),
    key: { partition: 'IDEMPOTENCY#{request_id}', sort: 'METADATA' },
  });
  const all = defineQuery('tasks', { of: task });
  const byStatus = defineQuery('by status', { of: task, index: 'GSI1' });
  const byDueDate = defineQuery('by due date', { of: task, index: 'GSI2' });
  const byCategory = defineQuery('by category', { of: task, index: 'GSI4' });
  const ann = { user_id: 'ann' };

  it('supports its access patterns', () => {
    expect(asked(all, ann)).toBe('PK = "TASK#ann" AND begins_with(SK, "TASK#")');
    expect(asked(byStatus, ann)).toBe('GSI1PK = "USER#ann" AND begins_with(GSI1SK, "STATUS#")');
    expect(asked(byStatus, { ...ann, status: 'pending' })).toContain(
      'begins_with(GSI1SK, "STATUS#pending#")',
    );
    expect(asked(byDueDate, { ...ann, due_date: '2026-03-01' })).toContain('"DUEDATE#2026-03-01#"');
    // The last day is part of the range.
    expect(
      asked(byDueDate, ann, { from: { due_date: '2026-03-01' }, to: { due_date: '2026-03-31' } }),
    ).toContain('BETWEEN "DUEDATE#2026-03-01#" AND "DUEDATE#2026-03-31$"');
    expect(
      asked(byDueDate, ann, { before: { due_date: '2026-03-01' }, filter: { status: is.not('completed') } }),
    ).toBe(
      'GSI2PK = "USER#ann" AND GSI2SK BETWEEN "DUEDATE#" AND "DUEDATE#2026-03-01#" / status <> "completed"',
    );
    // `work` does not match `work#x`.
    expect(asked(byCategory, { ...ann, category: 'work' })).toContain('"CATEGORY#work#"');
    expect(asked(byCategory, { ...ann, category: 'work#x' })).toContain('"CATEGORY#work%23x#"');
  });

  it('leaves items without the attribute out of an index', () => {
    const { Item } = putParams(task, { ...ann, task_id: '1', status: 'pending' }, {}, 0);
    expect(Item).toMatchObject({ GSI1PK: 'USER#ann', GSI1SK: 'STATUS#pending#1' });
    for (const name of ['GSI2PK', 'GSI2SK', 'GSI3PK', 'GSI3SK', 'GSI4PK', 'GSI4SK'])
      expect(Item).not.toHaveProperty(name);
  });
});

describe('T3nets', () => {
  const conversations = defineTable({
    name: 'conversations',
    keys: { partition: 'PK', sort: 'SK' },
    ttl: 'ttl',
  });
  const conversation = entity(conversations, {
    name: 'conversation',
    schema: shape('tenant_id', 'conversation_id'),
    key: { partition: '{tenant_id}', sort: '{conversation_id}' },
    inKeyOnly: ['tenant_id', 'conversation_id'],
  });
  const tenants = defineTable({
    name: 'tenants',
    keys: { partition: 'pk', sort: 'sk' },
    indexes: { 'channel-mapping': { partition: 'gsi1pk', sort: 'gsi1sk' } },
  });
  entity(tenants, {
    name: 'tenant',
    schema: shape('tenant_id'),
    key: { partition: 'TENANT#{tenant_id}', sort: 'META' },
  });
  const user = entity(tenants, {
    name: 'user',
    schema: shape('tenant_id', 'user_id', 'email'),
    key: { partition: 'TENANT#{tenant_id}', sort: 'USER#{user_id}' },
  });
  const channel = entity(tenants, {
    name: 'channel',
    schema: shape('tenant_id', 'type', 'id'),
    key: { partition: 'TENANT#{tenant_id}', sort: 'CHANNEL#{type}#{id}' },
    indexes: { 'channel-mapping': { partition: 'CHANNEL#{type}#{id}', sort: 'TENANT#{tenant_id}' } },
  });
  const memory = entity(tenants, {
    name: 'memory',
    schema: shape('tenant_id', 'user_id', 'session_id'),
    key: { partition: 'TENANT#{tenant_id}', sort: 'MEMORY#{user_id}#{session_id}' },
  });
  const users = defineQuery('users', { of: user });
  const tenantOf = defineQuery('tenant of a channel', { of: channel, index: 'channel-mapping' });
  const memories = defineQuery('memories', { of: memory });

  it('supports its access patterns', () => {
    expect(getParams(conversation, { tenant_id: 'default', conversation_id: 'conv-1' }).Key).toEqual({
      PK: 'default',
      SK: 'conv-1',
    });
    expect(asked(users, { tenant_id: 't' }, { filter: { email: 'a@b.c' } })).toBe(
      'pk = "TENANT#t" AND begins_with(sk, "USER#") / email = "a@b.c"',
    );
    expect(asked(tenantOf, { type: 'teams', id: 'bot' })).toBe(
      'gsi1pk = "CHANNEL#teams#bot" AND begins_with(gsi1sk, "TENANT#")',
    );
    expect(asked(memories, { tenant_id: 't', user_id: 'ann' })).toBe(
      'pk = "TENANT#t" AND begins_with(sk, "MEMORY#ann#")',
    );
  });
});
