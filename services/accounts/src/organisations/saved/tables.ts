import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../../main-table.ts';

export const savedKinds = ['events', 'sql', 'messages'] as const;
export type SavedKind = (typeof savedKinds)[number];

export const saved = entity(ferryhookKeys, {
  name: 'saved view or query',
  description:
    'Filters of the list of events, SQL or a message to send again, which the members of an organisation saved under a name.',
  schema: z.object({
    accountId: z.string(),
    kind: z.enum(savedKinds),
    name: z.string(),
    text: z.string().describe('The SQL, the filters as in the URL of the list, or the message as JSON'),
    saved_by: z.string().describe('The person, or the creator of the key'),
    saved_at: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{accountId}', sort: 'SAVED#{kind}#{name:text}' },
});
export type Saved = ItemOf<typeof saved>;

export const savedChange = entity(ferryhookKeys, {
  name: 'change of saved views or queries',
  description: 'Incremented with each new one, so that concurrent saves count each other.',
  schema: z.object({ accountId: z.string(), kind: z.enum(savedKinds), changes: z.int() }),
  key: { partition: 'USER#{accountId}', sort: 'SAVEDCHANGE#{kind}' },
});

export const savedOf = defineQuery('saved views and queries of an organisation', {
  of: saved,
  consistent: true,
});
