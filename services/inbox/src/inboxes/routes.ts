import { empty, etagOf, expectedVersion, json, pageOf, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { type Deps, inInbox, inTenant, secondsNow } from '../deps.ts';
import { settingsNotFound } from '../errors.ts';
import { countByCategory, liveOf, readHead } from '../publish/broadcasts.ts';
import { deleteCategory, listCategories } from '../publish/categories.ts';
import { countMembers } from '../publish/send-records.ts';
import * as shapes from '../schema.ts';
import * as settings from '../settings.ts';
import { readCategoryErasure, showCategoryErasure, startCategoryErasure } from './category-erasure.ts';
import { readErasure, showErasure, startErasure } from './inbox-erasure.ts';

const tags = ['inbox'];
const common = { auth: 'account', tags, tenant: 'path', mcp: false } as const;
const category = shapes.inboxParams.extend({
  category: shapes.categoryKey.describe('The category, a short name of your choice.'),
});
const settingsPath = '/v1/tenants/{tenant_id}/inbox-settings';
const inboxPath = '/v1/tenants/{tenant_id}/inboxes/{inbox_key}';

const readSettings = route({
  ...common,
  ...readsOnly,
  path: settingsPath,
  scope: 'read',
  operationId: 'inbox.readSettings',
  summary: "Get the settings of a tenant's inboxes",
  description: 'Returns the title and the expiry that apply to all inboxes of the tenant.',
  request: { params: shapes.tenantParams },
  responses: { 200: json(shapes.settingsShape) },
  problems: ['inbox.settings_not_found'],
});

const writeSettings = route({
  ...common,
  method: 'put',
  path: settingsPath,
  scope: 'write',
  operationId: 'inbox.writeSettings',
  reaches: 'nothing',
  audit: true,
  stores: 'edit',
  conditional: 'optional',
  summary: "Set the settings of a tenant's inboxes",
  description: 'Sets the title and the expiry that apply to all inboxes of the tenant.',
  request: { params: shapes.tenantParams, body: json(shapes.settingsBody) },
  responses: { 200: json(shapes.settingsShape) },
});

const listInboxes = route({
  ...common,
  ...readsOnly,
  path: '/v1/tenants/{tenant_id}/inboxes',
  scope: 'read',
  operationId: 'inbox.listInboxes',
  mcp: 'reads',
  summary: 'List inboxes',
  description: 'Returns the inboxes of the tenant.',
  request: { params: shapes.tenantParams },
  responses: { 200: json(pageOf(shapes.inboxShape)) },
});

const readInbox = route({
  ...common,
  ...readsOnly,
  path: inboxPath,
  scope: 'read',
  operationId: 'inbox.readInbox',
  summary: 'Get an inbox',
  description: 'Returns the configuration of an inbox.',
  request: { params: shapes.inboxParams },
  responses: { 200: json(shapes.inboxShape) },
  problems: ['inbox.not_found'],
});

const writeInbox = route({
  ...common,
  method: 'put',
  path: inboxPath,
  scope: 'write',
  operationId: 'inbox.writeInbox',
  reaches: 'nothing',
  audit: true,
  stores: 'edit',
  conditional: 'optional',
  summary: 'Create or configure an inbox',
  description: 'Creates the inbox, or replaces its configuration.',
  request: { params: shapes.inboxParams, body: json(shapes.inboxBody) },
  responses: { 200: json(shapes.inboxShape) },
  problems: ['inbox.schema_refused', 'inbox.too_many_inboxes', 'inbox.being_erased'],
});

const deleteInbox = route({
  ...common,
  method: 'delete',
  path: inboxPath,
  scope: 'admin',
  operationId: 'inbox.deleteInbox',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Delete an inbox and everything in it',
  description:
    'The inbox is gone for everyone as soon as this returns. Its contents are removed in the background; `readErasure` returns the progress.',
  request: { params: shapes.inboxParams },
  responses: { 202: json(shapes.erasureShape, 'The inbox is being erased') },
  problems: ['inbox.not_found'],
});

const inboxErasure = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/erasure`,
  scope: 'read',
  operationId: 'inbox.readErasure',
  summary: 'Get the progress of the deletion of an inbox',
  description: 'Returns how far the deletion of the inbox is.',
  request: { params: shapes.inboxParams },
  responses: { 200: json(shapes.erasureShape) },
  problems: ['inbox.erasure_not_found'],
});

const categories = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/categories`,
  scope: 'read',
  operationId: 'inbox.listCategories',
  summary: 'List the categories that have messages',
  description: '`until` is the latest time at which the last message of a category expires.',
  request: { params: shapes.inboxParams },
  responses: { 200: json(pageOf(shapes.categoryShape)) },
  problems: ['inbox.not_found'],
});

const removeCategory = route({
  ...common,
  method: 'delete',
  path: `${inboxPath}/categories/{category}`,
  scope: 'write',
  operationId: 'inbox.deleteCategory',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Delete a category',
  description:
    'Without `messages=delete`, the category must have no messages. With it, the messages are deleted too: they disappear at once and are removed in the background. `readCategoryErasure` returns the progress. Until it is done, nothing can be published in the category.',
  request: {
    params: category,
    query: z.strictObject({
      messages: z
        .enum(['keep', 'delete'])
        .default('keep')
        .describe('`delete` also redacts the messages that were sent in it.'),
    }),
  },
  responses: {
    204: empty('The category is deleted'),
    202: json(shapes.categoryErasureShape, 'The messages are being erased'),
  },
  problems: [
    'inbox.not_found',
    'inbox.category_not_found',
    'inbox.category_in_use',
    'inbox.category_being_deleted',
    'inbox.deletions_busy',
  ],
});

const categoryErasure = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/categories/{category}/erasure`,
  scope: 'read',
  operationId: 'inbox.readCategoryErasure',
  summary: 'Get the progress of the deletion of a category',
  description: 'Returns how far the deletion of the category is.',
  request: { params: category },
  responses: { 200: json(shapes.categoryErasureShape) },
  problems: ['inbox.erasure_not_found'],
});

const publicCounts = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/public-counts`,
  scope: 'read',
  operationId: 'inbox.publicCounts',
  summary: 'Count the messages to everyone, by category, and the members',
  description: 'Expired messages are not counted.',
  request: { params: shapes.inboxParams },
  responses: { 200: json(shapes.publicCountsShape) },
  problems: ['inbox.not_found'],
});

const versionOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

// `kind` is for the table alone.
const show = <T extends { kind: string }>({ kind: _, ...shown }: T) => shown;

// Inboxes stored before `cta_schemes` existed have none.
const showInbox = ({ erasing: _, ...config }: settings.InboxConfig) => ({ cta_schemes: [], ...show(config) });

export function createInboxRoutes(deps: Deps) {
  return [
    inTenant(readSettings, async (c, tenant_key) => {
      const found = await settings.readTenantSettings(deps, tenant_key);
      if (!found) throw settingsNotFound();
      c.header('ETag', etagOf(found.version));
      return c.json(show(found), 200);
    }),
    inTenant(writeSettings, async (c, tenant_key) => {
      const edit = { by: c.get('principal').accountId, version: versionOf(expectedVersion(c)) };
      const written = await settings.writeTenantSettings(deps, tenant_key, c.req.valid('json'), edit);
      c.header('ETag', etagOf(written.version));
      return c.json(show(written), 200);
    }),
    inTenant(listInboxes, async (c, tenant_key) => {
      const data = [];
      for await (const one of settings.listInboxes(deps, tenant_key))
        if (!one.erasing) data.push(showInbox(one));
      return c.json({ data, next_cursor: null }, 200);
    }),
    inInbox(readInbox, async (c, inbox) => {
      const found = await settings.readInbox(deps, inbox);
      c.header('ETag', etagOf(found.version));
      return c.json(showInbox(found), 200);
    }),
    inInbox(writeInbox, async (c, inbox) => {
      const edit = { by: c.get('principal').accountId, version: versionOf(expectedVersion(c)) };
      const written = await settings.writeInbox(deps, inbox, c.req.valid('json'), edit);
      c.header('ETag', etagOf(written.version));
      return c.json(showInbox(written), 200);
    }),
    inInbox(deleteInbox, async (c, inbox) =>
      c.json(showErasure(await startErasure(deps, inbox, c.get('principal').accountId)), 202),
    ),
    inInbox(inboxErasure, async (c, inbox) => c.json(showErasure(await readErasure(deps, inbox)), 200)),
    inInbox(categories, async (c, inbox) =>
      c.json({ data: await listCategories(deps, inbox), next_cursor: null }, 200),
    ),
    inInbox(removeCategory, async (c, inbox) => {
      const { category } = c.req.valid('param');
      if (c.req.valid('query').messages === 'delete') {
        const started = await startCategoryErasure(deps, inbox, category, c.get('principal').accountId);
        return c.json(showCategoryErasure(started), 202);
      }
      await deleteCategory(deps, inbox, category);
      return c.body(null, 204);
    }),
    inInbox(categoryErasure, async (c, inbox) => {
      const found = await readCategoryErasure(deps, inbox, c.req.valid('param').category);
      return c.json(showCategoryErasure(found), 200);
    }),
    inInbox(publicCounts, async (c, inbox) => {
      await settings.readInbox(deps, inbox);
      const live = liveOf((await readHead(deps, inbox)).broadcasts, secondsNow(deps));
      const members = await countMembers(deps, inbox);
      return c.json({ published: live.length, categories: countByCategory(live), members }, 200);
    }),
  ] as const;
}
