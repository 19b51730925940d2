import { markWork } from '@stak/kit';
import type { Context } from 'hono';
import type { ZodType } from 'zod';
import { hasBody, readBody } from './body.ts';
import type { ApiEnv } from './context.ts';
import { type FieldError, refuse } from './errors.ts';
import { fieldErrorsOf, pointerTo, requestInvalid } from './field-errors.ts';
import { findHalfCharacter, parseJson } from './json.ts';
import * as limits from './limits.ts';
import { jsonSchemaOf, type RouteSpec } from './route.ts';

type Target = 'param' | 'query' | 'header' | 'json';

const paths: Record<Target, FieldError['in']> = {
  param: 'path',
  query: 'query',
  header: 'header',
  json: 'body',
};

const jsonType = /^application\/(?:[a-z0-9.-]+\+)?json *(?:; *charset="?utf-8"? *)?$/i;

// Most requests that read send nothing to be checked.
export const takesInput = (c: Context<ApiEnv>, { request }: RouteSpec): boolean =>
  request !== undefined || (c.req.method !== 'GET' && c.req.method !== 'HEAD');

// Reads and checks what a route takes. Every bad field is named at once, wherever it is.
export async function takeInput(c: Context<ApiEnv>, route: RouteSpec): Promise<void> {
  const schema = jsonSchemaOf(route);
  if (schema) checkType(c);
  if (route.request?.body) c.set('body', await takeBytes(c, route, schema === undefined));
  else if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && hasBody(c))
    throw refuse('http.body_refused', 'This takes no body.', { headers: { Connection: 'close' } });

  const { params, query, headers } = route.request ?? {};
  const errors: FieldError[] = [];
  if (params) check(c, params, 'param', c.req.param(), errors);
  if (query) check(c, query, 'query', queryOf(c), errors);
  if (headers) check(c, headers, 'header', headersOf(c, Object.keys(headers.shape)), errors);
  if (schema) {
    markWork(c.get('routeId') ?? 'input');
    const body = parsedBody(c, route);
    check(c, schema, 'json', body, errors);
    if (errors.length === 0) checkUnicode(c.get('body'), body, errors);
  }
  if (errors.length > 0) throw requestInvalid(errors);
}

function check(c: Context, schema: ZodType, target: Target, value: unknown, errors: FieldError[]): void {
  const result = schema.safeParse(value);
  if (result.success) c.req.addValidatedData(target, result.data as object);
  else errors.push(...fieldErrorsOf(result.error, paths[target]));
}

// Schemas that look closer have named it already.
function checkUnicode(bytes: Uint8Array, body: unknown, errors: FieldError[]): void {
  const path = findHalfCharacter(bytes, body);
  if (path)
    errors.push({ in: 'body', pointer: pointerTo(path), code: 'not_unicode', detail: 'Half a character' });
}

function checkType(c: Context<ApiEnv>): void {
  const type = c.req.header('content-type');
  if (type === undefined ? hasBody(c) : !jsonType.test(type))
    throw refuse('http.media_type_refused', 'The body has to be application/json, in UTF-8.', {
      headers: { 'Accept-Post': 'application/json', Connection: 'close' },
    });
}

function takeBytes(c: Context<ApiEnv>, route: RouteSpec, isRaw: boolean): Promise<Uint8Array> {
  // A compressed body would have to be expanded before its size is known. A raw one is handed on as it is.
  const encoding = isRaw ? undefined : c.req.header('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw refuse('http.media_type_refused', 'The body must not be compressed.', {
      headers: { 'Accept-Encoding': 'identity', Connection: 'close' },
    });
  return readBody(c, {
    mostBytes: route.limits?.bodyBytes ?? limits.bodyBytes,
    mostMs: limits.bodyMs,
    clock: c.get('server').clock,
    flight: c.get('flight'),
  });
}

// No body is not the same as an empty one: the schema says whether it may be absent.
function parsedBody(c: Context<ApiEnv>, route: RouteSpec): unknown {
  const bytes = c.get('body');
  return bytes.length === 0 ? undefined : parseJson(bytes, route.limits?.jsonDepth ?? limits.jsonDepth);
}

// A name that is given twice arrives as an array, which no schema for one value takes.
function queryOf(c: Context): Record<string, string | string[]> {
  const entries = Object.entries(c.req.queries());
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

// Only the headers a route asks for: clients and proxies add others.
function headersOf(c: Context, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map(name => [name, c.req.header(name)]));
}
