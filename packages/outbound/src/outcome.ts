// The outcome of a request. A failure is data: the caller records it and decides whether to retry.

export type HeaderPair = readonly [name: string, value: string];

export type OutboundFailureReason =
  | 'invalid_url' // not http or https, credentials in it, or no address at all
  | 'invalid_request' // a method or header that may not be sent
  | 'blocked_address' // every address of the host is outside the global internet, and not allowed
  | 'blocked_port'
  | 'dns'
  | 'connect' // refused, unreachable, or no answer within the time for connecting
  | 'tls'
  | 'timeout' // the whole exchange took too long; a server that drips its answer ends here
  | 'reset' // the connection ended before the answer did
  | 'invalid_response' // what came back is not HTTP, or its headers are too large
  | 'busy' // too many requests are in flight
  | 'aborted' // the caller's signal
  | 'closed'; // this client was closed

export type OutboundFailure = {
  ok: false;
  reason: OutboundFailureReason;
  message: string;
  latencyMs: number;
  address?: string;
  // Present when the status line had arrived before the exchange failed: the other side did answer.
  status?: number;
};

export type OutboundResponse = {
  ok: true;
  status: number;
  headers: readonly HeaderPair[];
  body: Uint8Array;
  // The body went on past the limit; what is here is its beginning.
  truncated: boolean;
  latencyMs: number;
  address: string;
};

export type OutboundResult = OutboundResponse | OutboundFailure;
