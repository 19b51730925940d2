import { markWork } from '@stak/kit';
import type { Context } from 'hono';
import type { ZodType } from 'zod';
import type { ApiEnv } from '../context.ts';
import { type FieldError, refuse } from '../errors.ts';
import * as limits from '../limits.ts';
import { jsonSchemaOf, type RouteSpec } from '../routes/route.ts';
import { hasBody, readBody } from './body.ts';
import { addFieldErrors, type FieldErrors, pointerTo, requestInvalid } from './field-errors.ts';
import { findHalfCharacter, type Json, parseJson } from './json.ts';

type Target = 'param' | 'query' | 'header' | 'json';

const paths: Record<Target, FieldError['in']> = {
  param: 'path',
  query: 'query',
  header: 'header',
  json: 'body',
};

const jsonType = /^application\/(?:[a-z0-9.-]+\+)?json *(?:; *charset="?utf-8"? *)?$/i;

// Most requests that only read have no input to validate.
export const takesInput = (c: Context<ApiEnv>, { request }: RouteSpec): boolean =>
  request !== undefined || (c.req.method !== 'GET' && c.req.method !== 'HEAD');

// Reads and validates the input of a route. Reports all invalid fields at once, in every location.
export async function takeInput(c: Context<ApiEnv>, route: RouteSpec): Promise<void> {
  const schema = jsonSchemaOf(route);
  if (schema) checkType(c);
  if (route.request?.body) c.set('body', await takeBytes(c, route, schema === undefined));
  else if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && hasBody(c))
    throw refuse('http.body_refused', 'This takes no body.', { headers: { Connection: 'close' } });

  const { params, query, headers } = route.request ?? {};
  const errors: FieldErrors = { count: 0, first: [] };
  if (params) check(c, params, 'param', c.req.param(), errors);
  if (query) check(c, query, 'query', queryOf(c), errors);
  if (headers) check(c, headers, 'header', headersOf(c, Object.keys(headers.shape)), errors);
  if (schema) {
    markWork(c.get('routeId') ?? 'input');
    const body = parsedBody(c, route);
    check(c, schema, 'json', body.value, errors, body.size > limits.describedValues);
    if (errors.count === 0) checkUnicode(c.get('body'), body.value);
  }
  if (errors.count > 0) throw requestInvalid(errors);
}

// In a large value, Zod stops at the first error. It would make several of each of a hundred thousand invalid values.
function check(
  c: Context,
  schema: ZodType,
  target: Target,
  value: unknown,
  errors: FieldErrors,
  isLarge = false,
): void {
  const result = schema.safeParse(value, isLarge ? untilFirstError : undefined);
  if (result.success) {
    c.req.addValidatedData(target, result.data as object);
    return;
  }
  addFieldErrors(errors, result.error, paths[target]);
  errors.isCut = isLarge;
}

// Zod sets this for `z.validate`, and takes it from a caller too.
const untilFirstError = { abortEarly: true } as object;

// Schemas that check this have reported it already.
function checkUnicode(bytes: Uint8Array, body: unknown): void {
  const path = findHalfCharacter(bytes, body);
  if (!path) return;
  const error = { pointer: pointerTo(path), code: 'not_unicode', detail: 'Half a character' };
  throw requestInvalid({ count: 1, first: [{ in: 'body', ...error }] });
}

function checkType(c: Context<ApiEnv>): void {
  const type = c.req.header('content-type');
  if (type === undefined ? hasBody(c) : !jsonType.test(type))
    throw refuse('http.media_type_refused', 'The body has to be application/json, in UTF-8.', {
      headers: { 'Accept-Post': 'application/json', Connection: 'close' },
    });
}

function takeBytes(c: Context<ApiEnv>, route: RouteSpec, isRaw: boolean): Promise<Uint8Array> {
  // The size of a compressed body is unknown before it is expanded. A raw body is passed on as it is.
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

// A missing body is not an empty one: the schema decides whether it may be absent.
function parsedBody(c: Context<ApiEnv>, route: RouteSpec): Json {
  const bytes = c.get('body');
  if (bytes.length === 0) return { value: undefined, size: 0 };
  return parseJson(bytes, route.limits?.jsonDepth);
}

// A parameter that is given twice becomes an array, which no schema for a single value accepts.
function queryOf(c: Context): Record<string, string | string[]> {
  const entries = Object.entries(c.req.queries());
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

// Only the headers that a route declares: clients and proxies add others.
function headersOf(c: Context, names: readonly string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map(name => [name, c.req.header(name)]));
}
