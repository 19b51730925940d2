import {
  defineQuery,
  defineTable,
  entity,
  putParams,
  queryParams,
  recognise,
  updateParams,
} from '@stak/table';
import { z } from 'zod';
import type { Contestant } from './contestant.ts';
import { key, message, stored } from './data.ts';

const table = defineTable({
  name: 'inbox',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: { due: { partition: 'duepk', sort: 'duesk' } },
});

const messages = entity(table, {
  name: 'message',
  kind: 'UM',
  schema: z.object({
    tenant_key: z.string(),
    uid: z.string(),
    inbox_key: z.string(),
    id: z.string(),
    title: z.string(),
    body: z.string(),
    sender: z.string(),
    status: z.enum(['unread', 'read']),
    received: z.number(),
    expiredat: z.number(),
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
  indexes: { due: { partition: 't#{tenant_key}U#{uid}', sort: '{status}#{id}' } },
});
const newest = defineQuery('newest', { of: messages, newestFirst: true });

export const stak: Contestant = {
  name: 'stak',
  operations: {
    put: () => putParams(messages, message, {}, 0).Item.pk,
    update: () =>
      updateParams(
        messages,
        key,
        { set: { status: 'read', title: 'Read' }, remove: ['sender'] } as never,
        { if: { received: 1 } } as never,
        0,
      ).UpdateExpression,
    query: () => queryParams(newest, key).input.KeyConditionExpression,
    parse: () => recognise([messages], stored)!.item.title,
  },
};
