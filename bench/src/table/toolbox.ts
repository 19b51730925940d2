import { Entity } from 'dynamodb-toolbox/entity';
import { EntityFormatter } from 'dynamodb-toolbox/entity/actions/format';
import { PutItemCommand } from 'dynamodb-toolbox/entity/actions/put';
import { $remove, UpdateItemCommand } from 'dynamodb-toolbox/entity/actions/update';
import { item, number, string } from 'dynamodb-toolbox/schema';
import { Table } from 'dynamodb-toolbox/table';
import { QueryCommand } from 'dynamodb-toolbox/table/actions/query';
import type { Contestant } from './contestant.ts';
import { key, message, stored } from './data.ts';

const table = new Table({
  name: 'inbox',
  partitionKey: { name: 'pk', type: 'string' },
  sortKey: { name: 'sk', type: 'string' },
  indexes: {
    due: {
      type: 'global',
      partitionKey: { name: 'duepk', type: 'string' },
      sortKey: { name: 'duesk', type: 'string' },
    },
  },
  entityAttributeSavedAs: 'kind',
});

const messages = new Entity({
  name: 'UM',
  table,
  timestamps: false,
  schema: item({
    tenant_key: string().key(),
    uid: string().key(),
    inbox_key: string().key(),
    id: string().key(),
    title: string(),
    body: string(),
    sender: string().optional(),
    status: string().enum('unread', 'read'),
    received: number(),
    expiredat: number(),
  }).and(previous => ({
    duepk: string()
      .optional()
      .hidden()
      .link<typeof previous>(({ tenant_key, uid }) => `t#${tenant_key}U#${uid}`),
    duesk: string()
      .optional()
      .hidden()
      .link<typeof previous>(({ status, id }) => `${status}#${id}`),
  })),
  computeKey: ({ tenant_key, uid, inbox_key, id }: typeof key) => ({
    pk: `t#${tenant_key}U#${uid}#${inbox_key}`,
    sk: `m#${id}`,
  }),
});

export const toolbox: Contestant = {
  name: 'DynamoDB-Toolbox',
  operations: {
    put: () => messages.build(PutItemCommand).item(message).params(),
    update: () =>
      messages
        .build(UpdateItemCommand)
        .item({ ...key, status: 'read', title: 'Read', sender: $remove() })
        .options({ condition: { attr: 'received', eq: 1 } })
        .params(),
    query: () =>
      table
        .build(QueryCommand)
        .query({
          partition: `t#${key.tenant_key}U#${key.uid}#${key.inbox_key}`,
          range: { beginsWith: `m#${key.id}` },
        })
        .options({ reverse: true })
        .params(),
    parse: () => messages.build(EntityFormatter).format(stored).title,
  },
};
