import { findMismatch, findProblem, type JsonObject } from '@stak/json-schema';
import { type Ids, parseUrl, timeOf } from '@stak/kit';
import { z } from 'zod';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';
import { durationChars } from './limits.ts';

// Rules for links, lifetimes, bodies and ids of messages. Nothing here reads or writes.

const usual: ReadonlySet<string> = new Set(['https', 'http', 'mailto']);
// These run code in the page that shows the link, or display the sender's content as if it were the page's own.
const refused: ReadonlySet<string> = new Set([
  ...['javascript', 'vbscript', 'data', 'blob', 'filesystem', 'about', 'view-source'],
]);
const schemeShape = /^[a-z][a-z0-9+.-]{1,31}$/;

export const isScheme = (scheme: string): boolean => schemeShape.test(scheme) && !refused.has(scheme);
export const schemeHint =
  'A scheme in lower case without the colon, such as "tel" or "acme-app"; schemes that run code or hold data are not allowed';

const schemeOf = (uri: string): string => new URL(uri).protocol.slice(0, -1);

// Parsers differ in the spaces and control characters they ignore, so a link with them can mean different things.
const hasGaps = (uri: string): boolean => /[\s\p{Cc}\p{Cf}\\]/u.test(uri);

export const isUri = (uri: string): boolean =>
  !hasGaps(uri) && parseUrl(uri) !== undefined && !refused.has(schemeOf(uri));

export function checkCtaUri(uri: string | null, allowed: readonly string[] = []): void {
  if (uri === null) return;
  const scheme = schemeOf(uri);
  if (usual.has(scheme) || allowed.includes(scheme)) return;
  const detail = `A link must start with https:, http: or mailto:, or with one of the inbox's cta_schemes; "${scheme}:" is not allowed.`;
  throw inboxErrors.create('inbox.cta_uri_refused', detail, {
    errors: [{ in: 'body', pointer: '#/message/cta_uri', code: 'scheme', detail }],
  });
}

const shape = /^([1-9]\d{0,8})([dhms])$/;
const units = { d: 86_400, h: 3600, m: 60, s: 1 };

// Seconds of a duration such as `30d`, `12h`, `300m` or `6000s`; undefined for anything else.
export function secondsOf(duration: string): number | undefined {
  const match = shape.exec(duration);
  return match ? Number(match[1]) * units[match[2] as keyof typeof units] : undefined;
}

export const duration = (mostS: number) => {
  const hint = `A duration like 30d, 12h, 300m or 6000s, at most ${mostS / 86_400}d`;
  return z
    .string()
    .max(durationChars, { error: hint, abort: true })
    .refine(text => {
      const seconds = secondsOf(text);
      return seconds !== undefined && seconds <= mostS;
    }, hint);
};

type TtlPolicies = {
  own?: string; // the message's
  category?: string;
  inboxTtl: Readonly<Record<string, string>>;
  tenantTtl?: string;
  defaultS: number;
};

// The first of these that is set: of the message, of its category in the inbox, of the inbox, of the tenant, the
// default.
export function ttlSeconds({ own, category, inboxTtl, tenantTtl, defaultS }: TtlPolicies): number {
  const ofCategory =
    category !== undefined && Object.hasOwn(inboxTtl, category) ? inboxTtl[category] : undefined;
  for (const policy of [own, ofCategory, inboxTtl.default, tenantTtl]) {
    const seconds = policy === undefined ? undefined : secondsOf(policy);
    if (seconds !== undefined) return seconds;
  }
  return defaultS;
}

// Whether none of the message, its category and its inbox says when it expires.
export const needsTenantTtl = (
  { expiredat, ttl, taxonomy }: { expiredat?: number; ttl?: string; taxonomy?: { category: string } },
  inboxTtl: Readonly<Record<string, string>>,
): boolean =>
  expiredat === undefined &&
  ttl === undefined &&
  inboxTtl.default === undefined &&
  (taxonomy === undefined || !Object.hasOwn(inboxTtl, taxonomy.category));

// JSON Schemas that hosts set for the bodies of their messages.

export function checkSchema(schema: JsonObject): void {
  const problem = findProblem(schema, {
    bytes: limits.schemaBytes,
    parts: limits.schemaParts,
    depth: limits.schemaDepth,
  });
  if (problem !== undefined) throw inboxErrors.create('inbox.schema_refused', problem);
}

export function checkBody(schema: JsonObject, body: unknown): void {
  const mismatch = findMismatch(schema, body);
  if (!mismatch) return;
  const { pointer, keyword: code, detail } = mismatch;
  throw inboxErrors.create('inbox.body_invalid', "The body does not match the inbox's schema.", {
    errors: [{ in: 'body', pointer: `#/message/body${encodeURI(pointer.toWellFormed())}`, code, detail }],
  });
}

const idTimeDigits = 9; // of the kit's ids

// The lowest id that this millisecond or a later one can have.
export const idBoundary = (ms: number): string => Math.max(0, ms).toString(36).padStart(idTimeDigits, '0');

// An id for a future time: a scheduled message is listed by when it is sent, not by when it was created.
export const idFor = (ids: Ids, ms: number): string => idBoundary(ms) + ids.next().slice(idTimeDigits);

const hint = 'Not a message id';

export const messageId = z
  .string()
  .max(limits.idChars, { error: hint, abort: true })
  .refine(id => timeOf(id) !== undefined && !id.includes('_'), hint);
