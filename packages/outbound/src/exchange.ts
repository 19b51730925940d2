import type { Dispatcher } from 'undici';
import { ConnectError, codeOf, type Peer } from './connector.ts';
import { interimAnswers } from './limits.ts';
import type { HeaderPair, OutboundFailureReason } from './outcome.ts';

export type Answer = { status: number; headers: readonly HeaderPair[]; body: Uint8Array; truncated: boolean };
export type Failing = { reason: OutboundFailureReason; message: string; status?: number; isSent?: true };

export type Exchange = {
  handler: Dispatcher.DispatchHandler;
  // Ends the exchange from our side. A request that still waits for a connection is never sent.
  stop(reason: OutboundFailureReason, message: string): void;
  // Set by the connection that takes the request.
  peer: Peer | undefined;
};

// Collects one response up to a number of bytes, and settles once, whatever the other side does afterwards.
export function createExchange(
  mostBytes: number,
  settle: (outcome: Answer | Failing, peer: Peer | undefined) => void,
): Exchange {
  let controller: Dispatcher.DispatchController | undefined;
  let settled = false;
  let status: number | undefined;
  let headers: readonly HeaderPair[] = [];
  let chunks: Buffer[] = [];
  let bytes = 0;
  let interim = 0;

  const finish = (outcome: Answer | Failing) => {
    if (settled) return;
    settled = true;
    settle(outcome, exchange.peer);
    chunks = [];
  };
  const fail = (reason: OutboundFailureReason, message: string) =>
    finish({
      reason,
      message,
      ...(status !== undefined && { status }),
      ...(controller && { isSent: true }),
    });
  const answer = (truncated: boolean) =>
    finish({
      status: status ?? 0,
      headers,
      body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
      truncated,
    });

  const exchange: Exchange = {
    peer: undefined,
    stop(reason, message) {
      fail(reason, message);
      controller?.abort(new Error(message));
    },
    handler: {
      // Right before it is written to an open connection.
      onRequestStart(started) {
        controller = started;
        if (settled) started.abort(new Error('The exchange is over'));
      },
      onResponseStart(_, code, fields) {
        if (code < 200) {
          interim += 1;
          if (interim > interimAnswers)
            exchange.stop('invalid_response', `There were more than ${interimAnswers} interim answers`);
          return;
        }
        status = code;
        headers = listHeaders(fields);
      },
      onResponseData(_, chunk) {
        const room = mostBytes - bytes;
        bytes += chunk.length;
        // A copy, because a slice would keep the socket's whole read buffer in memory.
        if (room > 0) chunks.push(Buffer.from(chunk.subarray(0, room)));
        if (bytes <= mostBytes) return;
        answer(true);
        controller?.abort(new Error('The answer is longer than we read'));
      },
      onResponseEnd: () => answer(false),
      onResponseError: (_, error) => fail(...explain(error)),
    },
  };
  return exchange;
}

function listHeaders(fields: Record<string, string | string[] | undefined>): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (typeof value === 'string') pairs.push([name, value]);
    else if (value !== undefined) for (const line of value) pairs.push([name, line]);
  }
  return pairs;
}

function explain(error: Error): [OutboundFailureReason, string] {
  if (error instanceof ConnectError) return [error.reason, error.message];
  const code = codeOf(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return ['invalid_response', 'The headers of the answer are too large'];
  if (error.name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return ['invalid_response', `The answer is not HTTP (${error.message})`];
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return ['invalid_request', error.message];
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') return ['closed', 'The client is closed'];
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS'))
    return ['tls', `The secure connection broke (${code})`];
  return ['reset', `The connection ended before the answer did (${code || error.message})`];
}
