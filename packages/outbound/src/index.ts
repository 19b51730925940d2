export { maySendHeader, type Refusal } from './destination.ts';
export {
  createOutbound,
  type Outbound,
  type OutboundRequest,
  type OutboundSettings,
} from './outbound.ts';
export type {
  HeaderPair,
  OutboundFailure,
  OutboundFailureReason,
  OutboundResponse,
  OutboundResult,
} from './outcome.ts';
export type { Resolve } from './resolver.ts';
export { readRetryAfter } from './retry-after.ts';
