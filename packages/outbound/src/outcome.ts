// The outcome of a request. A failure is data: the caller records it and decides whether to retry.

export type HeaderPair = readonly [name: string, value: string];

export type OutboundFailureReason =
  | 'invalid_url' // not http or https, contains credentials, or not a URL at all
  | 'invalid_request' // a method or header that must not be sent
  | 'blocked_address' // every address of the host is outside the public internet, and not allowed
  | 'blocked_port'
  | 'dns'
  | 'connect' // refused, unreachable, or no response within the time for connecting
  | 'tls'
  | 'timeout' // the whole exchange took too long, for example because the server sends byte by byte
  | 'reset' // the connection ended before the response did
  | 'invalid_response' // the response is not HTTP, or its headers are too large
  | 'busy' // too many requests are in flight
  | 'aborted' // the caller's signal
  | 'closed'; // this client was closed

export type OutboundFailure = {
  ok: false;
  reason: OutboundFailureReason;
  message: string;
  latencyMs: number;
  address?: string;
  // Set if the status line arrived before the exchange failed: the other side did respond.
  status?: number;
  // Set if a connection took the request: the other side may have acted on it.
  isSent?: true;
};

export type OutboundResponse = {
  ok: true;
  status: number;
  headers: readonly HeaderPair[];
  body: Uint8Array;
  // The body exceeded the limit; this is its beginning.
  truncated: boolean;
  latencyMs: number;
  address: string;
};

export type OutboundResult = OutboundResponse | OutboundFailure;
