export type { RateLimits } from './access.ts';
export { accessLog } from './access-log.ts';
export { addressKey } from './address.ts';
export { type Api, type ApiSettings, createApi } from './api.ts';
export { type AuditLine, callerOf, recordLine, userName, type WriteAudit } from './audit.ts';
export { boundedRecord } from './bounded-record.ts';
export type { ApiEnv, ServerContext } from './context.ts';
export { type FieldError, httpErrors, type ProblemDetails } from './errors.ts';
export { etagOf, expectedVersion, versionMismatch } from './etag.ts';
export type { EndReason } from './event-buffer.ts';
export type { ServerEvent } from './event-text.ts';
export { type Guards, isReaching, isStored, type RequestTenant, tenantOf, unguarded } from './guards.ts';
export {
  type Attempt,
  type Begun,
  type Claim,
  hashParts,
  type IdempotencyStore,
  type StoredResponse,
} from './idempotency.ts';
export { createMemoryIdempotency } from './idempotency-memory.ts';
export { parseJson } from './json.ts';
export { answerPage, type PageRequest } from './list-page.ts';
export { type Listening, type ListenSettings, listen } from './listen.ts';
export type { ApiDocument, ApiInfo } from './openapi.ts';
export {
  type BoundCursors,
  bindCursors,
  type CursorCodec,
  cursorRefused,
  type Page,
  pageOf,
  pageQuery,
  toPage,
} from './page.ts';
export { type HeaderPair, type PlainAnswer, type PlainRequest, plainEndpoint } from './plain.ts';
export {
  type AccountPrincipal,
  type Auth,
  type Authenticate,
  type AuthRequest,
  assertOwned,
  type EndUserPrincipal,
  type EndUserScope,
  holdsScope,
  isPermitted,
  type Principal,
  type PrincipalOf,
  type ProviderPrincipal,
  principalKey,
  type Scope,
} from './principal.ts';
export { type Problem, problemSchema } from './problem.ts';
export { type Bucket, judge, type RateLimitStore, type RatePolicy, type Verdict } from './rate-limit.ts';
export { createMemoryRateLimits, type MemoryRateLimits, shareRateLimits } from './rate-limit-memory.ts';
export { createReaderWatch } from './reader-watch.ts';
export type { Revocations, Revoked } from './revocations.ts';
export {
  type AnyEndpoint,
  type Endpoint,
  empty,
  endpoint,
  events,
  type HandlerOf,
  json,
  type Prove,
  type Reach,
  type RouteSpec,
  raw,
  route,
  withProblems,
} from './route.ts';
export { nameSchemas } from './schema-names.ts';
export { transportSecurity } from './security-headers.ts';
export type { RequestRecord } from './serving.ts';
export { type EventSink, type SseOptions, type Subscribe, sse } from './sse.ts';
export type { Metrics, ReadyCheck } from './system-endpoints.ts';
export { textStream } from './text-stream.ts';
