import { createIds, manualClock, timeOf } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import {
  checkBody,
  checkSchema,
  duration,
  idBoundary,
  idFor,
  messageId,
  secondsOf,
  ttlSeconds,
} from './message-rules.ts';

const nested = (depth: number): Record<string, unknown> => (depth === 0 ? {} : { items: nested(depth - 1) });

describe('schemas of message bodies', () => {
  it.each([
    [{}],
    [{ type: 'string', maxLength: 10 }],
    [{ anyOf: [{ type: 'string' }, { type: 'object', properties: { at: { format: 'date-time' } } }] }],
    [
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
      },
    ],
  ])('accepts %j', schema => checkSchema(schema));

  it.each([
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }],
    ['names by pattern', { patternProperties: { '^(a+)+$': {} } }],
    ['another document', { $ref: 'file:///etc/passwd' }],
    ['itself', { properties: { child: { $ref: '#' } } }],
    ['what compares everything with everything', { uniqueItems: true }],
    ['a schema that is none', { items: 5 }],
    ['a list that is none', { anyOf: 'x' }],
    ['a type that is none', { type: 'text' }],
    ['too deep', nested(20)],
    ['too many parts', { anyOf: Array.from({ length: 501 }, () => ({})) }],
    ['too long', { description: 'x'.repeat(20_000) }],
  ])('refuses %s', (_, schema) => {
    expect(() => checkSchema(schema)).toThrow(expect.objectContaining({ code: 'inbox.schema_refused' }));
  });

  it('reports where a body is wrong', () => {
    const schema = { type: 'object', properties: { amount: { type: 'number' } } };
    checkBody(schema, { amount: 5 });
    expect(() => checkBody(schema, { amount: 'five' })).toThrow(
      expect.objectContaining({
        code: 'inbox.body_invalid',
        details: { errors: [expect.objectContaining({ pointer: '#/message/body/amount' })] },
      }),
    );
  });
});

describe('secondsOf', () => {
  it.each([
    ['30d', 2_592_000],
    ['12h', 43_200],
    ['300m', 18_000],
    ['6000s', 6000],
  ])('parses %s', (text, seconds) => expect(secondsOf(text)).toBe(seconds));

  it.each(['', '0s', '30', 'd', '30w', '-1d', '1.5h', ' 1d', '1d ', '1e3s', '9999999999s'])(
    'refuses "%s"',
    text => expect(secondsOf(text)).toBeUndefined(),
  );
});

describe('duration', () => {
  it('has a maximum', () => {
    expect(duration(86_400).safeParse('1d').success).toBe(true);
    expect(duration(86_400).safeParse('25h').success).toBe(false);
  });
});

describe('ttlSeconds', () => {
  const inboxTtl = { default: '2d', offer: '3h' };
  it.each([
    [{ own: '1s', category: 'offer', tenantTtl: '4d' }, 1],
    [{ category: 'offer', tenantTtl: '4d' }, 10_800],
    [{ category: 'toString', tenantTtl: '4d' }, 172_800],
    [{ tenantTtl: '4d' }, 172_800],
  ])('%j', (policies, seconds) => expect(ttlSeconds({ inboxTtl, defaultS: 7, ...policies })).toBe(seconds));

  it('falls back to the tenant’s, and then to the default', () => {
    expect(ttlSeconds({ inboxTtl: {}, tenantTtl: '4d', defaultS: 7 })).toBe(345_600);
    expect(ttlSeconds({ inboxTtl: {}, defaultS: 7 })).toBe(7);
  });
});

const clock = manualClock(Date.UTC(2026, 5, 1));
const ids = createIds({ clock });

it('gives the lower bound of the ids of a millisecond', async () => {
  const before = ids.next();
  await clock.advance(1);
  const after = ids.next();
  const boundary = idBoundary(clock.now());
  expect(before < boundary && boundary <= after).toBe(true);
});

it('creates ids for a later time', () => {
  const later = clock.now() + 86_400_000;
  const id = idFor(ids, later);
  expect(timeOf(id)).toBe(later);
  expect(messageId.safeParse(id).success).toBe(true);
});

it.each(['', 'x', 'evt_0mjuxvy9s00aaaaaaaaaaaaa', '0mjuxvy9s00aaaaaaaaaaaa#', '0MJUXVY9S00AAAAAAAAAAAAA'])(
  'does not accept "%s" as a message id',
  text => expect(messageId.safeParse(text).success).toBe(false),
);
