export type Schema = {
  $ref?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  minItems?: number;
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};

/** The schemas inside a schema, except for its properties. */
export const innerSchemas = ({ items, prefixItems, additionalProperties, anyOf, oneOf, allOf }: Schema) =>
  [
    items,
    additionalProperties,
    ...(prefixItems ?? []),
    ...(anyOf ?? []),
    ...(oneOf ?? []),
    ...(allOf ?? []),
  ].filter(candidate => typeof candidate === 'object');

const deepest = 5; // rules and conversations nest without limit

const byFormat: Readonly<Record<string, unknown>> = {
  'date-time': '2026-11-16T09:30:00Z',
  date: '2026-11-16',
  time: '09:30:00',
  email: 'ann@example.com',
  uri: 'https://api.example.com/webhooks',
  uuid: '6f1c2b0e-5d0c-4a37-9a39-0d1a6a1f6f3e',
};

// Usual values by field name. Used if they fit the type of the field.
const byName: Readonly<Record<string, unknown>> = {
  accountId: 'usr_0mjuxvy9s00a',
  userId: 'usr_0mjuxvy9s00b',
  invitationId: 'inv_1f0c2b0e5d0c4a379a390d1a',
  sessionId: 'ses_0mjuxvy9s00a',
  keyId: 'key_0mjuxvy9s00a',
  passkeyId: 'pky_8f14e45fceea167a5a36dedd4bea2543',
  invitation_id: 'inv_0mjuxvy9s00a000000000000',
  erasure_id: 'era_0mjuxvy9s00a000000000000',
  message_id: 'msg_0mjuxvy9s00a',
  conversation_id: 'cnv_0mjuxvy9s00a',
  'If-Match': '"3"',
  ai_provider: 'anthropic',
  attempt: 'att_0mjuxvy9s00a',
  approval_id: 'apr_0mjuxvy9s00a',
  since: '0mjuxvy9s00a.42',
  file: '0mjuxvy9s00a00000000000000000000.ics',
  sourceId: 'src_0mjuxvy9s00a',
  source_id: 'src_0mjuxvy9s00a',
  connectionId: 'con_0mjuxvy9s00b',
  eventId: 'evt_0mjuxvy9s00c',
  jobId: 'job_0mjuxvy9s00d',
  'stak-cause': 'evt_0mjuxvy9s00c000000000000',
  because_of: 'event:evt_0mjuxvy9s00c000000000000',
  task_id: 'tsk_0mjuxvy9s00e000000000000',
  parent_id: 'tsk_0mjuxvy9s00e000000000000',
  after: 'tsk_0mjuxvy9s00e000000000000',
  before: 'tsk_0mjuxvy9s00e000000000000',
  tenant_id: 'demo-shop',
  tenant_key: 'demo-shop',
  inbox_key: 'news',
  user_id: 'ann',
  uid: 'ann',
  name: 'Orders',
  display_name: 'Ann',
  title: 'Your order is on its way',
  email: 'ann@example.com',
  password: 'a long enough password',
  newPassword: 'another long enough password',
  destinationUrl: 'https://api.example.com/webhooks',
  alertUrl: 'https://api.example.com/alerts',
  url: 'https://api.example.com/webhooks',
  cta_uri: 'https://shop.example.com/orders/1042',
  portal_name: 'Demo shop',
  portal_logo: 'https://shop.example.com/logo.png',
  logo: 'https://shop.example.com/logo.png',
  portal_color: '#0f766e',
  color: '#0f766e',
  portal_header_color: '#134e4a',
  header_color: '#134e4a',
  ttl: '30d',
  time: '09:30',
  time_zone: 'Europe/Zurich',
  recurrence: 'FREQ=WEEKLY;BYDAY=MO',
  category: 'orders',
  filter: 'status:pending due<=today',
  q: 'invoice',
  content: 'Where is my order?',
  description: 'Orders of the shop',
  method: 'POST',
  code: 'http.request_invalid',
  detail: 'The request is not valid.',
  request_id: 'req_0mjuxvy9s00f',
  next_cursor: null,
  sql: 'select status, count(*) from tasks group by status',
};

/** A value that the schema allows, as realistic as its names allow. Includes optional fields. */
export function exampleOf(given: Schema, name: string, shared: Record<string, Schema>, depth = 0): unknown {
  const schema = given.$ref ? (shared[given.$ref.split('/').at(-1)!] ?? {}) : given;
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined && !isEmpty(schema.default)) return schema.default;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const shown = choices.find(choice => choice.type !== 'null') ?? choices[0]!;
    return exampleOf(shown, name, shared, depth);
  }
  if (schema.allOf)
    return Object.assign({}, ...schema.allOf.map(part => exampleOf(part, name, shared, depth) as object));
  const types = [schema.type ?? []].flat();
  if (name === 'next_cursor' && types.includes('null')) return null;
  const type = types.find(type => type !== 'null');
  if (type === 'object' || schema.properties) return objectOf(schema, shared, depth);
  if (type === 'array') return arrayOf(schema, name, shared, depth);
  if (type === 'string') return textFor(schema, name);
  if (type === 'integer' || type === 'number') return numberFor(schema, name);
  if (type === 'boolean') return true;
  return types.includes('null') ? null : {};
}

const isEmpty = (value: unknown): boolean =>
  value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function objectOf(schema: Schema, shared: Record<string, Schema>, depth: number): object {
  const required = new Set(schema.required ?? []);
  const entries = Object.entries(schema.properties ?? {})
    .filter(([name]) => required.has(name) || depth < deepest)
    .map(([name, field]) => [name, exampleOf(field, name, shared, depth + 1)]);
  return Object.fromEntries(entries);
}

function arrayOf(schema: Schema, name: string, shared: Record<string, Schema>, depth: number): unknown[] {
  if (schema.prefixItems)
    return schema.prefixItems.map(element => exampleOf(element, name, shared, depth + 1));
  if (!schema.items || (depth >= deepest && !schema.minItems)) return [];
  return [exampleOf(schema.items, name.replace(/s$/, ''), shared, depth + 1)];
}

function textFor({ format, pattern, minLength = 0 }: Schema, name: string): string {
  const fitting = [
    byName[name],
    format && byFormat[format],
    name.replaceAll('_', ' '),
    'a',
    'stak.tasks',
  ].find(
    one =>
      typeof one === 'string' &&
      one.length >= minLength &&
      (pattern === undefined || new RegExp(pattern, 'u').test(one)),
  );
  return String(fitting ?? (format ? byFormat[format] : undefined) ?? 'text'.padEnd(minLength, 't'));
}

// Most numbers whose names end in "at" are times.
function numberFor({ minimum, exclusiveMinimum, maximum }: Schema, name: string): number {
  const momentMs = /[a-z]At$/.test(name) ? Date.UTC(2026, 10, 16, 9, 30) : undefined;
  const momentS = /(?:_at|[a-z]at|until)$/.test(name) ? Date.UTC(2026, 10, 16, 9, 30) / 1000 : undefined;
  const usual = momentMs ?? momentS ?? (/(?:_rate|Rate|share|score)$/.test(name) ? 0.5 : 3);
  const least = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
  return Math.min(Math.max(usual, least), maximum ?? Number.POSITIVE_INFINITY);
}
