import { expect, it } from 'vitest';
import type { Source } from '../main-table.ts';
import { eventTypeOf } from './event-type.ts';

const typeOf = (provider: Source['provider'], headers: Record<string, string>, body: unknown) =>
  eventTypeOf(provider, {
    method: 'POST',
    headers: Object.entries(headers),
    query: '',
    body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
  });

it.each([
  ['stripe', {}, { type: 'invoice.paid', data: { type: 'inner' } }, 'invoice.paid'],
  ['github', { 'X-GitHub-Event': 'pull_request' }, { action: 'opened' }, 'pull_request.opened'],
  ['github', { 'X-GitHub-Event': 'push' }, 'not json', 'push'],
  ['shopify', { 'X-Shopify-Topic': 'orders/create' }, { id: 1 }, 'orders/create'],
  ['slack', {}, { type: 'event_callback', event: { type: 'app_mention' } }, 'app_mention'],
  ['sendgrid', {}, [{ event: 'bounce' }, { event: 'open' }], 'bounce'],
  ['custom', { 'CE-Type': 'com.example.made' }, { type: 'other' }, 'com.example.made'],
  ['custom', {}, { event: { nested: true }, action: 'created' }, 'created'],
  ['custom', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'event=call.ended&x=1', 'call.ended'],
  ['custom', {}, { type: 'two words' }, undefined],
  ['custom', {}, { type: 'x'.repeat(101) }, undefined],
  ['custom', {}, { type: `paid${String.fromCharCode(0)}` }, undefined],
  ['custom', {}, '[]', undefined],
  ['custom', {}, '', undefined],
  ['custom', {}, { type: 'large', filler: 'x'.repeat(70_000) }, undefined],
] as const)('of %s with %j', (provider, headers, body, type) => {
  expect(typeOf(provider, headers, body)).toBe(type);
});
