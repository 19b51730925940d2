import { type EventSink, endpoint, events, raw, route, sse } from '@stak/http';
import { serve } from '@stak/http/loopback';
import { openShelf } from '@stak/http/shelf-service';
import { z } from 'zod';
import { type ClientOf, type ClientSettings, createClientFor } from '../src/index.ts';
import { type ApiTypes, operations } from './shelf-operations.ts';

const note = z.strictObject({ text: z.string() });

const feed = route({
  method: 'get',
  path: '/v1/feeds/{name}',
  auth: 'account',
  scope: 'read',
  summary: 'Follow a feed',
  operationId: 'feeds.follow',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  request: { params: z.strictObject({ name: z.string() }) },
  responses: { 200: events(note) },
});

const upload = route({
  method: 'put',
  path: '/v1/files/{name}',
  auth: 'account',
  scope: 'write',
  summary: 'Keep a file',
  operationId: 'files.put',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  request: {
    params: z.strictObject({ name: z.string() }),
    query: z.strictObject({ label: z.union([z.string(), z.array(z.string())]).optional() }),
    headers: z.object({ 'x-note': z.string().optional() }),
    body: raw(),
  },
  responses: { 200: { description: 'It', content: { 'application/octet-stream': { schema: z.unknown() } } } },
});

export type Subscription = { afterId: string | undefined; sink: EventSink };

// The shelf of the HTTP package's own tests, with a stream and a file besides.
export function openApi(change: Parameters<typeof openShelf>[0] = {}) {
  const subscriptions: Subscription[] = [];
  const waiting: ((one: Subscription) => void)[] = [];
  const shelf = openShelf({
    ...change,
    more: [
      endpoint(feed, c =>
        sse(c, {
          enter: () => {},
          subscribe: (afterId, sink) => {
            const one = { afterId, sink };
            subscriptions.push(one);
            waiting.shift()?.(one);
            return new Promise(resolve => sink.signal.addEventListener('abort', () => resolve()));
          },
        }),
      ),
      endpoint(upload, c => {
        c.header(
          'X-Seen',
          JSON.stringify([c.req.param('name'), c.req.query(), c.req.header('x-note') ?? null]),
        );
        return c.body(Buffer.from(c.get('body')).reverse(), 200, {
          'Content-Type': 'application/octet-stream',
        });
      }),
      ...(change.more ?? []),
    ],
  });
  const subscribed = () => new Promise<Subscription>(resolve => waiting.push(resolve));
  return { ...shelf, subscriptions, subscribed };
}

export type ShelfClient = ClientOf<ApiTypes>;

export const connect = (settings: ClientSettings): ShelfClient =>
  createClientFor<ApiTypes>(operations, settings);

export async function openClient(settings: Partial<ClientSettings> = {}, api = openApi()) {
  const { url } = await serve(api);
  return { api, url, client: connect({ baseUrl: url, token: 'ann', ...settings }) };
}
