// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ElectroDB writes its own templates this way.
import { Entity } from 'electrodb';
import type { Contestant } from './contestant.ts';
import { key, message, stored } from './data.ts';

const messages = new Entity(
  {
    model: { entity: 'message', version: '1', service: 'inbox' },
    attributes: {
      tenant_key: { type: 'string', required: true },
      uid: { type: 'string', required: true },
      inbox_key: { type: 'string', required: true },
      id: { type: 'string', required: true },
      title: { type: 'string', required: true },
      body: { type: 'string', required: true },
      sender: { type: 'string' },
      status: { type: ['unread', 'read'] as const, required: true },
      received: { type: 'number', required: true },
      expiredat: { type: 'number', required: true },
    },
    indexes: {
      primary: {
        pk: {
          field: 'pk',
          composite: ['tenant_key', 'uid', 'inbox_key'],
          template: 't#${tenant_key}U#${uid}#${inbox_key}',
          casing: 'none',
        },
        sk: { field: 'sk', composite: ['id'], template: 'm#${id}', casing: 'none' },
      },
      due: {
        index: 'due',
        pk: {
          field: 'duepk',
          composite: ['tenant_key', 'uid'],
          template: 't#${tenant_key}U#${uid}',
          casing: 'none',
        },
        sk: { field: 'duesk', composite: ['status', 'id'], template: '${status}#${id}', casing: 'none' },
      },
    },
  } as const,
  { table: 'inbox' },
);

const item = { ...stored, __edb_e__: 'message', __edb_v__: '1' };

export const electrodb: Contestant = {
  name: 'ElectroDB',
  operations: {
    put: () => messages.put(message).params(),
    update: () =>
      messages
        .patch(key)
        .set({ status: 'read', title: 'Read' })
        .remove(['sender'])
        .where(({ received }, { eq }) => eq(received, 1))
        .params(),
    query: () => messages.query.primary(key).params({ order: 'desc' }),
    parse: () => messages.parse({ Item: item }).data?.title,
  },
};
