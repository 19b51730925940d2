import { expect, it } from 'vitest';
import { holdsValue, readWhere } from './where.ts';

const request = {
  method: 'POST',
  headers: [['X-Shop', '7']] as const,
  query: '',
  body: new TextEncoder().encode(
    JSON.stringify({
      customer: { id: 'cus_1' },
      amount: 42,
      paid: true,
      none: null,
      items: [{ sku: 'a' }, { sku: 'b' }],
    }),
  ),
};

it.each([
  ['body.customer.id = cus_1', true],
  ['body.customer.id="cus_1"', true],
  ['body.customer.id = cus_2', false],
  ['body.customer = cus_1', false],
  ['body.amount = 42', true],
  ['body.paid = true', true],
  ['body.none = null', true],
  ['body.missing = undefined', false],
  ['body.items.1.sku = b', true],
  ['body.items.0.sku = b', false],
  ['body.items.sku = b', true],
  ['body.toString = x', false],
  ['headers.x-shop = 7', true],
  ['headers.x-shop = 8', false],
])('%s: %s', (text, isHeld) => {
  expect(holdsValue(request, readWhere(text)!)).toBe(isHeld);
});

it.each(['amount = 42', 'body = 1', 'body. = 1', 'body.a..b = 1', 'body.a', ''])(
  '%j is not a condition',
  text => {
    expect(readWhere(text)).toBeUndefined();
  },
);
