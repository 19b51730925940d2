import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  type AnyEndpoint,
  endpoint,
  json,
  nameSchemas,
  type Principal,
  raw,
  readsOnly,
  route,
} from '@stak/http';
import { z } from 'zod';
import { lakeErrors } from '../errors.ts';
import type { Metadata } from '../iceberg/metadata.ts';
import * as limits from '../limits.ts';
import type { ObjectStore } from '../storage/objects.ts';
import { type Catalog, type CatalogReader, namespaces } from './catalog.ts';

// The read-only part of Iceberg's REST catalog, and the files of its tables as an S3 client reads them.

const name = z.string().regex(/^[A-Za-z0-9_]{1,100}$/);
const text = z.string().max(1000);
const namespace = { namespace: name.describe('The namespace of the table.') };
const tags = ['lake'];
const read = { auth: 'account', scope: 'read', method: 'get', tenant: 'none', mcp: false } as const;
const base = '/v1/lake/iceberg/v1';
const operatorBase = '/v1/lake/iceberg/operator/v1';
const pages = {
  pageToken: text.optional().describe('Ignored: there is one page only.'),
  pageSize: text.optional().describe('Ignored: there is one page only.'),
};
const identifier = z.strictObject({
  namespace: z.array(z.string()).describe('The namespace of the table.'),
  name: z.string().describe('The name of the table.'),
});
const token = { 'next-page-token': z.null().describe('Always null: there is one page only.') };

const answers = {
  IcebergConfig: z.strictObject({
    defaults: z.record(z.string(), z.string()).describe('Settings that a reader may override.'),
    overrides: z.record(z.string(), z.string()).describe('Settings that a reader has to use.'),
    endpoints: z.array(z.string()).describe('The operations that this catalog has.'),
  }),
  IcebergNamespaces: z.strictObject({
    namespaces: z.array(z.array(z.string())).describe('The namespaces of the catalog.'),
    ...token,
  }),
  IcebergNamespace: z.strictObject({
    namespace: z.array(z.string()).describe('The name of the namespace.'),
    properties: z.record(z.string(), z.string()).describe('Properties of the namespace.'),
  }),
  IcebergTables: z.strictObject({
    identifiers: z.array(identifier).describe('The tables of the namespace.'),
    ...token,
  }),
  IcebergTable: z.strictObject({
    'metadata-location': z.string().describe('The file that the metadata is read from.'),
    metadata: z
      .custom<Metadata>(value => typeof value === 'object')
      .meta({ type: 'object', description: 'The metadata of the table, as Iceberg defines it.' }),
    config: z.record(z.string(), z.string()).describe('Settings for readers of the table.'),
  }),
};
nameSchemas({ IcebergIdentifier: identifier, ...answers });

const routes = {
  config: route({
    ...read,
    ...readsOnly,
    tags,
    path: `${base}/config`,
    operationId: 'lake.icebergConfig',
    summary: 'Get the settings for Iceberg clients',
    description: 'The first request of an Iceberg REST catalog client. There is one warehouse.',
    request: {
      query: z.strictObject({ warehouse: text.optional().describe('The warehouse; there is one only.') }),
    },
    responses: {
      200: json(answers.IcebergConfig, 'What to set, and what may be called'),
    },
  }),
  namespaces: route({
    ...read,
    ...readsOnly,
    tags,
    path: `${base}/namespaces`,
    operationId: 'lake.icebergNamespaces',
    summary: 'List the namespaces of your Iceberg catalog',
    description: 'Returns the namespaces of the Iceberg catalog.',
    request: {
      query: z.strictObject({ parent: text.optional().describe('The namespace to look in.'), ...pages }),
    },
    responses: {
      200: json(answers.IcebergNamespaces, 'Their names'),
    },
  }),
  namespace: route({
    ...read,
    ...readsOnly,
    tags,
    path: `${base}/namespaces/{namespace}`,
    operationId: 'lake.icebergNamespace',
    summary: 'Get a namespace of your Iceberg catalog',
    description: 'Returns a namespace of the Iceberg catalog.',
    request: { params: z.strictObject(namespace) },
    responses: {
      200: json(answers.IcebergNamespace, 'Its name'),
    },
    problems: ['lake.table_not_found'],
  }),
  tables: route({
    ...read,
    ...readsOnly,
    tags,
    path: `${base}/namespaces/{namespace}/tables`,
    operationId: 'lake.icebergTables',
    summary: 'List the tables of a namespace',
    description: 'Returns the tables of a namespace of the Iceberg catalog.',
    request: { params: z.strictObject(namespace), query: z.strictObject(pages) },
    responses: { 200: json(answers.IcebergTables, 'Their names') },
    problems: ['lake.table_not_found'],
  }),
  table: route({
    ...read,
    tags,
    path: `${base}/namespaces/{namespace}/tables/{table}`,
    operationId: 'lake.icebergTable',
    reaches: 'nothing',
    audit: true, // it gives out the rows
    stores: 'line',
    summary: 'Load a table with your rows',
    description:
      'Writes your current rows to files of your own if they have changed, and returns the table’s metadata with credentials for its files that are valid for an hour.',
    request: {
      params: z.strictObject({ ...namespace, table: name.describe('The name of the table.') }),
      query: z.strictObject({
        snapshots: z
          .enum(['all', 'refs'])
          .optional()
          .describe('Which snapshots to return: `all`, or `refs` for the current ones.'),
      }),
    },
    responses: {
      200: json(answers.IcebergTable, 'The table'),
    },
    problems: ['lake.table_not_found', 'lake.query_too_large', 'lake.query_too_slow', 'lake.busy'],
    limits: { rate: { name: 'lake', limit: limits.requestsPerMinute, windowMs: 60_000 } },
  }),
  file: route({
    ...readsOnly,
    auth: 'provider',
    path: '/v1/lake/iceberg/files/{bucket}/{table}/{kind}/{file}',
    operationId: 'lake.icebergFile',
    tenant: 'none',
    mcp: false,
    tags,
    summary: 'Get a file of a table, for S3 clients',
    description: 'Signed with the credentials of the table (AWS Signature Version 4). Supports byte ranges.',
    request: {
      params: z.strictObject({
        bucket: z.literal(limits.copyBucket).describe('The part of the lake that holds the file.'),
        table: z
          .string()
          .regex(/^[a-z]+\.[a-z0-9_]{1,100}$/)
          .describe('The name of the table.'),
        kind: z.enum(['metadata', 'data']).describe('Whether it is metadata or data.'),
        file: z
          .string()
          .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/)
          .describe('The name of the file.'),
      }),
    },
    responses: { 200: raw('Its bytes'), 206: raw('Some of its bytes') },
    problems: ['lake.file_not_found', 'lake.range_not_satisfiable'],
  }),
};

type CatalogRequest = { get(name: 'principal'): Principal };

const catalogEndpoints = (catalog: Catalog, enter: (c: CatalogRequest) => CatalogReader) =>
  [
    endpoint(routes.config, c => {
      enter(c);
      return c.json(
        {
          defaults: {},
          overrides: {},
          endpoints: [
            'GET /v1/{prefix}/namespaces',
            'GET /v1/{prefix}/namespaces/{namespace}',
            'GET /v1/{prefix}/namespaces/{namespace}/tables',
            'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
          ],
        },
        200,
      );
    }),
    endpoint(routes.namespaces, c => {
      enter(c);
      const isTop = c.req.valid('query').parent === undefined;
      return c.json(
        { namespaces: isTop ? namespaces.map(namespace => [namespace]) : [], 'next-page-token': null },
        200,
      );
    }),
    endpoint(routes.namespace, c => {
      const { namespace } = c.req.valid('param');
      catalog.list(enter(c), namespace);
      return c.json({ namespace: [namespace], properties: {} }, 200);
    }),
    endpoint(routes.tables, c => {
      const { namespace } = c.req.valid('param');
      const names = catalog.list(enter(c), namespace);
      const identifiers = names.map(name => ({ namespace: [namespace], name }));
      return c.json({ identifiers, 'next-page-token': null }, 200);
    }),
    endpoint(routes.table, async c => {
      const { namespace, table } = c.req.valid('param');
      return c.json(await catalog.load(enter(c), namespace, table), 200);
    }),
  ] as const;

// The texts of the operator's catalog, in the order of the other routes.
const operatorTexts = [
  ['Config', 'Get the settings for Iceberg clients of an operator'],
  ['Namespaces', 'List the namespaces of the operator’s Iceberg catalog'],
  ['Namespace', 'Get a namespace of the operator’s Iceberg catalog'],
  ['Tables', 'List the tables of a namespace, for an operator'],
  ['Table', 'Load a table with the rows of all accounts'],
] as const;

// The same catalog over the rows of all accounts. `assertOperator` throws for other callers. The route is open to all
// callers, so that others get "not found" rather than "forbidden".
export const createOperatorRoutes = (
  catalog: Catalog,
  assertOperator: (c: CatalogRequest) => void,
): AnyEndpoint[] =>
  catalogEndpoints(catalog, c => {
    assertOperator(c);
    return 'operator';
  }).map(({ route: own, ...one }, i) => ({
    ...(one as Pick<AnyEndpoint, 'handler'>),
    route: route({
      ...own,
      auth: 'user',
      endUserScope: 'any',
      path: own.path.replace(base, operatorBase) as `/${string}`,
      operationId: `lake.operatorIceberg${operatorTexts[i]![0]}`,
      summary: operatorTexts[i]![1],
      description:
        'For operators of this server who are signed in. Anyone else gets a 404. `_account`, `_tenant` and `_user` (in `bronze` `account_id`, `tenant_id` and `user_id`) say whose a row is.',
      problems: [...('problems' in own ? own.problems : []), 'http.not_found'],
    }),
  }));

const ownReader = (c: CatalogRequest): CatalogReader => {
  const principal = c.get('principal');
  if (principal.kind !== 'account') throw new TypeError('a catalog is an account’s');
  return principal;
};

export const createCatalogRoutes = (catalog: Catalog, objects: ObjectStore) =>
  [
    ...catalogEndpoints(catalog, ownReader),
    endpoint(
      routes.file,
      async c => {
        const path = await objects.locate(c.get('principal').subject);
        const about = path === undefined ? undefined : await stat(path).catch(() => undefined);
        if (path === undefined || !about) throw lakeErrors.create('lake.file_not_found', 'File not found.');
        return serve(path, about.size, c.req.header('range'));
      },
      async c => {
        const { table, kind, file } = c.req.valid('param' as never) as Record<
          'table' | 'kind' | 'file',
          string
        >;
        const request = {
          method: c.req.method,
          url: c.req.url,
          header: (name: string) => c.req.header(name),
        };
        const key = catalog.keyOf(request, table, kind, file);
        return key === undefined ? undefined : { kind: 'provider', provider: 'lake', subject: key };
      },
    ),
  ] as const;

function serve(path: string, size: number, range: string | undefined): Response {
  const headers = { 'Content-Type': 'application/octet-stream', 'Accept-Ranges': 'bytes' };
  const body = (start: number, end: number) =>
    size === 0 ? null : (Readable.toWeb(createReadStream(path, { start, end: end - 1 })) as ReadableStream);
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
  if (first === '' && last === '')
    return new Response(body(0, size), { headers: { ...headers, 'Content-Length': String(size) } });
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (start >= end)
    throw lakeErrors.create('lake.range_not_satisfiable', 'The file does not have these bytes.', {
      headers: { 'Content-Range': `bytes */${size}` },
    });
  return new Response(body(start, end), {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(end - start),
      'Content-Range': `bytes ${start}-${end - 1}/${size}`,
    },
  });
}
