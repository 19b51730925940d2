import { type Clock, cutText } from '@stak/kit';
import { maySendHeader, type Outbound, type OutboundResult } from '@stak/outbound';
import type { HeaderPair, HookRequest } from './filters/request-view.ts';
import * as limits from './limits.ts';
import type { Connection } from './main-table.ts';
import type { Rules } from './rules.ts';
import { connectionPlace, type Secrets } from './secrets.ts';
import { signDelivery } from './signatures/signing.ts';
import type { TransformOutcome } from './transforms/outcome.ts';

// From a stored request to an exchange with the destination, each step a value that can be shown.

export type PipelineDeps = { clock: Clock; secrets: Secrets; rules: Rules; outbound: Outbound };

export type Outgoing = { url: string; method: string; headers: HeaderPair[]; body: Uint8Array };

// What belongs to the connection that brought it, or would be wrong for the body as it is now.
const leftBehind =
  /^(?:host|content-length|content-type|content-encoding|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|authorization|cookie|proxy-.*|x-forwarded-.*|forwarded|x-real-ip|x-ferryhook-.*|webhook-(?:id|timestamp|signature))$/i;

export function prepare(
  { clock, secrets }: PipelineDeps,
  connection: Connection,
  request: HookRequest,
  shaped: Extract<TransformOutcome, { ok: true; dropped: false }>,
  eventId: string,
): Outgoing {
  const given = shaped.headers ?? request.headers;
  const isSame = shaped.body === request.body;
  const own = (name: string) => request.headers.find(([one]) => one.toLowerCase() === name)?.[1];
  const contentType = shaped.contentType ?? own('content-type');
  const encoding = isSame ? own('content-encoding') : undefined;
  const headers: HeaderPair[] = given.filter(([name]) => !leftBehind.test(name) && maySendHeader(name));
  if (contentType !== undefined) headers.push(['content-type', contentType]);
  if (encoding !== undefined) headers.push(['content-encoding', encoding]);
  headers.push(
    ...signDelivery({
      secrets: secrets.open(connection.signingSecret, connectionPlace(connection.connectionId)),
      eventId,
      timestampS: Math.floor(clock.now() / 1000),
      body: shaped.body,
    }),
  );
  // A GET that arrived is delivered as a POST: what it said is in its query, and destinations expect a body.
  const method = request.method === 'GET' || request.method === 'HEAD' ? 'POST' : request.method;
  return { url: withQuery(connection.destinationUrl, request.query), method, headers, body: shaped.body };
}

function withQuery(destination: string, query: string): string {
  if (query === '') return destination;
  const url = new URL(destination);
  url.search = url.search === '' ? query : `${url.search}&${query}`;
  return url.href;
}

export const send = (
  { outbound }: PipelineDeps,
  outgoing: Outgoing,
  signal?: AbortSignal,
): Promise<OutboundResult> => outbound.send({ timeoutMs: limits.timeoutMs, signal, ...outgoing });

export const isDelivered = (answer: OutboundResult): boolean =>
  answer.ok && answer.status >= 200 && answer.status < 300;

const utf8 = new TextDecoder('utf-8');

export const responseText = (answer: OutboundResult): string | undefined => {
  if (!answer.ok || answer.body.length === 0) return undefined;
  // Four bytes a character at most: the rest need not be decoded.
  return cutText(utf8.decode(answer.body.subarray(0, limits.responseChars * 4)), limits.responseChars);
};

export function describeAnswer(answer: OutboundResult): string | undefined {
  if (isDelivered(answer)) return undefined;
  if (answer.ok) return `The destination answered ${answer.status}`;
  return cutText(`${answer.reason}: ${answer.message}`, limits.errorChars);
}
