export type { ApiEnv, ServerContext } from './context.ts';
export { type FieldError, httpErrors, type ProblemDetails } from './errors.ts';
export type { EndReason } from './events/event-buffer.ts';
export type { ServerEvent } from './events/event-text.ts';
export { createReaderWatch } from './events/reader-watch.ts';
export { type EventSink, type SseOptions, type Subscribe, sse } from './events/sse.ts';
export { textStream } from './events/text-stream.ts';
export { boundedRecord } from './input/bounded-record.ts';
export { etagOf, expectedVersion, versionMismatch } from './input/etag.ts';
export { parseJson } from './input/json.ts';
export { answerPage, type PageRequest } from './input/list-page.ts';
export {
  type BoundCursors,
  bindCursors,
  type CursorCodec,
  cursorRefused,
  type Page,
  pageOf,
  pageQuery,
  toPage,
} from './input/page.ts';
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
export type { RateLimits } from './routes/access.ts';
export { addressKey } from './routes/address.ts';
export { type AuditLine, callerOf, recordLine, userName, type WriteAudit } from './routes/audit.ts';
export {
  type Guards,
  isReaching,
  isStored,
  type RequestTenant,
  tenantOf,
  unguarded,
} from './routes/guards.ts';
export { readsOnly } from './routes/reads-only.ts';
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
} from './routes/route.ts';
export { accessLog } from './serving/access-log.ts';
export { type Api, type ApiSettings, createApi } from './serving/api.ts';
export { type Listening, type ListenSettings, listen } from './serving/listen.ts';
export type { Mount, Mounted } from './serving/mount.ts';
export type { ApiDocument, ApiInfo } from './serving/openapi.ts';
export { type HeaderPair, type PlainAnswer, type PlainRequest, plainEndpoint } from './serving/plain.ts';
export { nameSchemas } from './serving/schema-names.ts';
export { transportSecurity } from './serving/security-headers.ts';
export type { RequestRecord } from './serving/serving.ts';
export type { Metrics, ReadyCheck } from './serving/system-endpoints.ts';
export {
  type Attempt,
  type Begun,
  type Claim,
  hashParts,
  type IdempotencyStore,
  type StoredResponse,
} from './stores/idempotency.ts';
export { createMemoryIdempotency } from './stores/idempotency-memory.ts';
export {
  type Bucket,
  judge,
  type RateLimitStore,
  type RatePolicy,
  type Verdict,
} from './stores/rate-limit.ts';
export {
  createMemoryRateLimits,
  type MemoryRateLimits,
  shareRateLimits,
} from './stores/rate-limit-memory.ts';
export type { Revocations, Revoked } from './stores/revocations.ts';
