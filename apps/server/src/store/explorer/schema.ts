import { nameSchemas, pageOf, pageQuery } from '@stak/http';
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
  ttl: z.string().nullable().describe('The TTL attribute'),
  stream: z.string().nullable().describe('The view type of the stream'),
  status: z.string(),
  items: z.int().describe('On AWS, updated about every six hours'),
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
  kind: z.enum(['query', 'item', 'other']).describe('`other` is what no declared pattern accounts for'),
  index: z.string().nullable(),
  conditions: z.array(condition),
  notes: z.array(z.string()),
  example: z
    .strictObject({ read_units: z.number(), write_units: z.number() })
    .nullable()
    .describe('The cost of one call, with the examples of the design'),
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
  type: z.string().describe("DynamoDB's type: S, N, B, BOOL, NULL, M, L, SS, NS or BS"),
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
nameSchemas({ TableAttribute: attributeView, TableKey: keyView });
export type KeyView = z.output<typeof keyView>;

const itemSchema = z.strictObject({
  entity: z.string().nullable().describe('null for an item that matches no design'),
  keys: z.array(keyView),
  expires_at: z.iso.datetime().nullable(),
  is_expired: z.boolean().describe('Whether it has expired and is not removed yet'),
  attributes: z.array(attributeView),
});
export type ItemView = z.output<typeof itemSchema>;

export const itemsQuery = pageQuery(limits.pageItems).extend({
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(limits.pageItems),
  index: z.string().min(1).max(255).optional().describe('Read this index instead of the table'),
  partition: z.string().min(1).max(2048).optional().describe('Without a partition key, the table is scanned'),
  sort: z.string().min(1).max(1024).optional().describe('A prefix of the sort key'),
  order: z.enum(['asc', 'desc']).default('asc').describe('The order of the sort key. A scan has none'),
  entity: z.string().min(1).max(200).optional().describe('Only items of this entity'),
});
export type ItemsQuery = z.output<typeof itemsQuery>;

export const itemPageSchema = pageOf(itemSchema).extend({
  read: z.int().describe('How many items were read for the page'),
  read_units: z.number(),
});

export const changeSchema = z.strictObject({
  kind: z.enum(['insert', 'modify', 'remove', 'expire']),
  at: z.iso.datetime(),
  item: itemSchema.describe('The item after the change, or before it if it was removed'),
  before: z.array(attributeView).nullable().describe('The previous values of changed and removed attributes'),
  changed: z.array(z.string()).describe('Names of the changed attributes'),
});
export type ChangeView = z.output<typeof changeSchema>;
