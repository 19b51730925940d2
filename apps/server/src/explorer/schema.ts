import { pageOf, pageQuery } from '@stak/http';
import { z } from 'zod';
import * as limits from './limits.ts';

const units = { calls: z.int(), read_units: z.number(), write_units: z.number() };
const keyNames = z.strictObject({ partition: z.string(), sort: z.string().nullable() });
const condition = z.strictObject({
  attribute: z.string(),
  is: z.enum(['=', 'begins like']),
  text: z.string(),
});

const summary = {
  name: z.string(),
  description: z.string(),
  keys: keyNames,
  ttl: z.string().nullable().describe('The attribute that items expire by'),
  stream: z.string().nullable().describe('What its stream carries'),
  status: z.string(),
  items: z.int().describe('On AWS it is counted about every six hours'),
  bytes: z.int(),
};

const tableSummarySchema = z.strictObject({
  ...summary,
  entities: z.int(),
  indexes: z.int(),
  patterns: z.int(),
  ...units,
});
export type TableSummary = z.output<typeof tableSummarySchema>;

export const tableListSchema = pageOf(tableSummarySchema).extend({
  since: z.iso.datetime().describe('Since when units are counted: the start of this server'),
});

const attributeDoc = z.strictObject({
  name: z.string(),
  type: z.string(),
  is_optional: z.boolean(),
  description: z.string(),
});
const entityKeys = z.strictObject({
  index: z.string().nullable().describe('null for the table itself'),
  partition: z.string(),
  sort: z.string().nullable(),
});
const entitySchema = z.strictObject({
  name: z.string(),
  kind: z.string().nullable(),
  description: z.string(),
  expires: z.boolean(),
  version: z.string().nullable(),
  in_key_only: z.array(z.string()),
  keys: z.array(entityKeys),
  attributes: z.array(attributeDoc),
});
const indexSchema = z.strictObject({
  name: z.string(),
  keys: keyNames,
  projection: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
  included: z.array(z.string()),
  status: z.string(),
  items: z.int(),
  bytes: z.int(),
});
const patternSchema = z.strictObject({
  name: z.string(),
  kind: z.enum(['query', 'item', 'other']).describe('`other` is booked and not declared'),
  index: z.string().nullable(),
  conditions: z.array(condition),
  notes: z.array(z.string()),
  example: z
    .strictObject({ read_units: z.number(), write_units: z.number() })
    .nullable()
    .describe('Of one call, with the examples of the design'),
  ...units,
});

export const tableDetailsSchema = z.strictObject({
  ...summary,
  ttl_status: z.string().nullable(),
  since: z.iso.datetime(),
  entities: z.array(entitySchema),
  indexes: z.array(indexSchema),
  patterns: z.array(patternSchema),
});
export type TableDetails = z.output<typeof tableDetailsSchema>;

const attributeView = z.strictObject({
  name: z.string(),
  type: z.string().describe("DynamoDB's: S, N, B, BOOL, NULL, M, L, SS, NS or BS"),
  value: z.unknown(),
  note: z.enum(['masked', 'sealed', 'cut']).nullable(),
});
export type AttributeView = z.output<typeof attributeView>;

const keyView = z.strictObject({
  attribute: z.string(),
  role: z.enum(['partition', 'sort']),
  index: z.string().nullable(),
  text: z.string(),
  pieces: z.array(z.strictObject({ text: z.string(), param: z.string().nullable() })),
  is_masked: z.boolean(),
});
export type KeyView = z.output<typeof keyView>;

const itemSchema = z.strictObject({
  entity: z.string().nullable().describe('null for one that no design knows'),
  keys: z.array(keyView),
  expires_at: z.iso.datetime().nullable(),
  is_expired: z.boolean().describe('Its time is over, and it has not been removed yet'),
  attributes: z.array(attributeView),
});
export type ItemView = z.output<typeof itemSchema>;

export const itemsQuery = pageQuery(limits.pageItems).extend({
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(limits.pageItems),
  index: z.string().min(1).max(255).optional().describe('Read this index instead of the table'),
  partition: z.string().min(1).max(2048).optional().describe('Without one, the table is scanned'),
  sort: z.string().min(1).max(1024).optional().describe('What the sort key begins with'),
  order: z.enum(['asc', 'desc']).default('asc').describe('Of the sort key; a scan has none'),
  entity: z.string().min(1).max(200).optional().describe('Only items of this entity'),
});
export type ItemsQuery = z.output<typeof itemsQuery>;

export const itemPageSchema = pageOf(itemSchema).extend({
  read: z.int().describe('How many items were read for it'),
  read_units: z.number(),
});

export const changeSchema = z.strictObject({
  kind: z.enum(['insert', 'modify', 'remove', 'expire']),
  at: z.iso.datetime(),
  item: itemSchema.describe('After the change; before it, if it removed the item'),
  before: z.array(attributeView).nullable().describe('What changed or went, as it was before'),
  changed: z.array(z.string()).describe('Names of attributes that are another than before'),
});
export type ChangeView = z.output<typeof changeSchema>;
