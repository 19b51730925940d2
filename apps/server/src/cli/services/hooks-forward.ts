import { request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import type { Client } from '@stak/client';

type Event = Awaited<ReturnType<Client['webhooks']['listEvents']>>['data']['data'][number];
// An event of the live view with its payload. The body is base64.
export type LiveEvent = Event & { headers: readonly (readonly [string, string])[]; body: string };

const timeoutMs = 30_000; // long enough to look at it in a debugger

// Headers of the connection to us, which are set again for the one to the target.
const ownHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

// Forwards an event with the same method, query, headers in the same order, and bytes. Returns the outcome in a word.
export async function forward(target: URL, event: LiveEvent): Promise<string> {
  const startedMs = performance.now();
  try {
    const status = await exchange(target, event);
    return `${status} in ${Math.round(performance.now() - startedMs)} ms`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `no answer (${code ?? message})`;
  }
}

function exchange(target: URL, { method, query, headers, body, eventId }: LiveEvent): Promise<number> {
  const bytes = Buffer.from(body, 'base64');
  const search = [target.search.slice(1), query].filter(Boolean).join('&');
  const sent = [
    ['Host', target.host],
    ...headers.filter(([name]) => !ownHeaders.has(name.toLowerCase())),
    ['X-Stak-Event-Id', eventId],
    ['X-Ferryhook-Event-Id', eventId],
    ['Content-Length', `${bytes.length}`],
  ];
  const send = target.protocol === 'https:' ? sendHttps : sendHttp;
  return new Promise((resolve, reject) => {
    const path = search === '' ? target.pathname : `${target.pathname}?${search}`;
    const options = { method, path, headers: sent.flat(), signal: AbortSignal.timeout(timeoutMs) };
    const request = send(target, options, response => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0)).on('error', reject);
    });
    request.on('error', reject).end(bytes);
  });
}
