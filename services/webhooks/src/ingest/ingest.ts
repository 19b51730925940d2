import { createHash } from 'node:crypto';
import { createMemoryRateLimits, type ProblemDetails, type Verdict } from '@stak/http';
import { type Clock, createRecentMap } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import type { AccountPlan, WebhookDeps } from '../deps.ts';
import { notFound, webhookErrors } from '../errors.ts';
import type { HookRequest } from '../filters/request-view.ts';
import * as limits from '../limits.ts';
import type { Source } from '../main-table.ts';
import { readHmacConfig } from '../signatures/custom.ts';
import { type Secrets, sourceSecretContext } from '../signatures/secrets.ts';
import type { HmacConfig, Provider, RefusalReason } from '../signatures/signing.ts';
import { answerHandshake, type Handshake, verify } from '../signatures/verify.ts';
import {
  isFromOutside,
  type OutsideSource,
  type SourceCache,
  type SourceView,
} from '../sources/source-cache.ts';
import type { Event } from '../tables.ts';
import type { LoadLimiter } from './load-limiter.ts';
import { type NewEvent, type Receipt, type WriteDeps, writeEvent } from './write-event.ts';

export type IngestRequest = HookRequest & { sourceId: string; sourceIp?: string; url: string };
export type IngestResponse = { handshake: Handshake } | { receipt: Receipt };

export type AcceptDeps = WriteDeps & {
  sourceCache: SourceCache;
  planLimiter: PlanLimiter;
  loadLimiter: Pick<LoadLimiter, 'enter'>;
  hasRoom?: WebhookDeps['hasRoom'];
  onReceived(sourceId: string): void; // for live views
  eraseEvent(event: Pick<Event, 'sourceId' | 'eventId' | 'receivedAt' | 'dedupeId'>): Promise<void>;
};

export type IngestDeps = AcceptDeps & { secrets: Secrets };

// Takes a provider's request. A receipt means that the event and its deliveries are on disk.
export async function ingest(deps: IngestDeps, request: IngestRequest): Promise<IngestResponse> {
  const found = await deps.sourceCache.get(request.sourceId);
  if (!found || !isFromOutside(found.source)) throw notFound('source');
  const source = found.source;
  deps.planLimiter.takeRequest(source.sourceId);
  checkHeaders(request);

  const keys = signingKeys(deps, source);
  const handshake = answerHandshake(source.provider, request, keys.verifyTokens);
  if (handshake && !handshake.signed) return { handshake };
  const { dedupeId, rejection } = checkSignature(deps, source, keys, request);
  if (handshake && !rejection) return { handshake };
  if (rejection && source.signatures === 'reject')
    throw webhookErrors.create('webhooks.signature_refused', 'The signature is missing or not valid.', {
      reason: rejection,
    });
  return { receipt: await acceptEvent(deps, { request, dedupeId, rejection }, found) };
}

function checkHeaders({ headers, query }: IngestRequest): void {
  let size = query.length;
  for (const [name, value] of headers) size += name.length + value.length;
  const isTooLarge = headers.length > limits.headerPairs || size > limits.headersBytes;
  if (isTooLarge || query.length > limits.queryChars || encodedChars(query) > limits.queryChars)
    throw webhookErrors.create('webhooks.headers_too_large', 'The headers or the query are too large.');
}

// In the address of a destination, which encodes quotation marks and the like. One that is too long would fail for ever.
function encodedChars(query: string): number {
  if (query === '') return 0;
  const url = new URL('http://any');
  url.search = query;
  return url.search.length - 1;
}

type SigningKeys = {
  untilMs: number;
  secrets: string[];
  verifyTokens: string[];
  config: HmacConfig | undefined;
};

// Opening a sealed secret costs as much as a small write, so it is done once for each version of a source.
const openedKeys = new WeakMap<OutsideSource, SigningKeys>();

function signingKeys({ secrets, clock }: IngestDeps, source: OutsideSource): SigningKeys {
  const known = openedKeys.get(source);
  if (known && known.untilMs > clock.now()) return known;
  const opened = {
    untilMs: clock.now() + limits.sourceCacheMs,
    secrets: secrets.open(source.signingSecret, sourceSecretContext(source.sourceId, 'signingSecret')),
    verifyTokens: secrets.open(source.verifyToken, sourceSecretContext(source.sourceId, 'verifyToken')),
    config: source.provider === 'custom' ? readHmacConfig(source.signingAlgorithm) : undefined,
  };
  openedKeys.set(source, opened);
  return opened;
}

function checkSignature(
  { clock }: IngestDeps,
  source: OutsideSource,
  { secrets, config }: SigningKeys,
  request: IngestRequest,
): { dedupeId?: string; rejection?: RefusalReason } {
  if (source.signatures === 'off') return { dedupeId: unsignedId(source, request) };
  const verification = verify(source.provider, {
    secrets,
    headers: request.headers,
    rawBody: request.body,
    url: request.url,
    nowMs: clock.now(),
    toleranceS: source.toleranceS,
    config,
  });
  // A sender who cannot sign must not be able to take an id that a genuine event will have.
  if (!verification.ok) return { rejection: verification.reason };
  return { dedupeId: verification.dedupeId ?? headerOf(request, source.dedupeHeader) };
}

const idHeaders: Partial<Record<Provider, string>> = {
  github: 'x-github-delivery',
  shopify: 'x-shopify-webhook-id',
  'standard-webhooks': 'webhook-id',
};

const unsignedId = (source: OutsideSource, request: IngestRequest): string | undefined =>
  headerOf(request, source.dedupeHeader ?? idHeaders[source.provider]);

const headerOf = ({ headers }: IngestRequest, name: string | undefined): string | undefined =>
  name === undefined ? undefined : headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];

// Checks an event against the source and the account's plan, then stores it. Requests and emitted events both end here.
export async function acceptEvent(
  deps: AcceptDeps,
  { request, dedupeId, rejection }: Omit<NewEvent, 'source' | 'retentionSeconds'>,
  view: SourceView,
  kind?: 'emit',
): Promise<Receipt> {
  refuseWhilePaused(view.source);
  const { userId } = view.source;
  // Before it is counted against the plan, because it may be refused.
  const admitted = deps.loadLimiter.enter(userId, request.body.length, kind);
  if (admitted) await admitted;
  const plan = await deps.planLimiter.takeEvent(userId);
  if (request.body.length > Math.min(plan.bodyBytes ?? limits.bodyBytes, limits.bodyBytes))
    throw webhookErrors.create('webhooks.body_too_large', 'The body is larger than the plan allows.');

  const bytes = request.body.length + limits.eventBytes + view.connections.length * limits.deliveryBytes;
  if (deps.hasRoom && !(await deps.hasRoom(userId, bytes)))
    throw webhookErrors.create(
      'webhooks.storage_limit_reached',
      'The account that owns this source has no storage left.',
    );

  // All of this may have taken long. A delivery that is written on an old view could wait in a backlog that was released
  // long ago, and one to a new connection would be missing.
  const current = await deps.sourceCache.renew(view);
  if (!current) throw notFound('source');
  const { source, connections } = current;
  refuseWhilePaused(source);
  const { retentionSeconds } = plan;
  const received = { source, request, rejection, dedupeId: keyableId(dedupeId), retentionSeconds };
  const receipt = await writeEvent(deps, received, connections);
  await eraseIfLate(deps, current, received, receipt);
  if (!receipt.isDuplicate) deps.onReceived(source.sourceId);
  return receipt;
}

// The eraser of an account waits for events that are being stored, but not as long as a slow store may take.
async function eraseIfLate(
  { clock, sourceCache, eraseEvent }: AcceptDeps,
  { source, readMs }: SourceView,
  { dedupeId }: Pick<NewEvent, 'dedupeId'>,
  { eventId, receivedAt, isDuplicate }: Receipt,
): Promise<void> {
  if (isDuplicate || Math.abs(clock.now() - readMs) < limits.storedLateMs) return;
  const { sourceId, userId } = source;
  // The event is stored: if it cannot be known now, its sender must not send it again.
  const current = await sourceCache.getFresh(sourceId, userId).catch(error => {
    if (isUnavailable(error)) return source;
    throw error;
  });
  if (current) return;
  await eraseEvent({ sourceId, eventId, receivedAt, dedupeId });
  throw notFound('source');
}

function refuseWhilePaused({ status, whilePaused }: Source): void {
  if (status === 'paused' && whilePaused === 'refuse')
    throw webhookErrors.create('webhooks.source_paused', 'This source is paused and refuses events.');
}

// The id becomes part of a key, so a long one is hashed.
function keyableId(id: string | undefined): string | undefined {
  if (!id) return undefined;
  if (id.length <= limits.dedupeIdChars && id.isWellFormed()) return id;
  return createHash('sha256').update(id).digest('hex');
}

export type PlanLimiter = {
  // Counts one event against the account's plan. Throws if the plan does not allow it.
  takeEvent(userId: string): Promise<AccountPlan>;
  // Counts one request to an existing source before its signature is checked, so that a flood of forged requests
  // is charged to that source alone.
  takeRequest(sourceId: string): void;
};

type Account = AccountPlan & { used: number; since: string; noticed: number };

export function createPlanLimiter(
  deps: Pick<WebhookDeps, 'planOf' | 'usageOf' | 'requestsPerSource' | 'rates' | 'onShareUsed' | 'log'> & {
    clock: Clock;
  },
): PlanLimiter {
  const { clock, log, rates = createMemoryRateLimits() } = deps;
  const accounts = createRecentMap<string, { loading: Promise<Account>; untilMs: number }>(
    limits.sourceCacheEntries,
  );
  const perSource = {
    name: 'source',
    limit: deps.requestsPerSource ?? limits.requestsPerSource,
    windowMs: limits.rateWindowMs,
  };

  // The stored count is a second or two behind. What this process has accepted since is added here; what other
  // processes have accepted is not, so an account may exceed its month by what they take in a few seconds.
  const load = async (userId: string, before: Promise<Account> | undefined): Promise<Account> => {
    const [plan, usage] = await Promise.all([deps.planOf(userId), deps.usageOf(userId)]);
    const known = await before?.catch(() => undefined);
    const isSame = known?.since === usage.since && known.eventsPerMonth === plan.eventsPerMonth;
    const own = known?.since === usage.since ? known.used : 0;
    const used = Math.max(usage.events, own);
    return { ...plan, since: usage.since, used, noticed: isSame ? known.noticed : 0 };
  };
  // The sender does not wait for this.
  const notifyUsage = (userId: string, account: Account): void => {
    const { used, eventsPerMonth, since, noticed } = account;
    const percent = limits.noticePercents.findLast(share => used * 100 >= share * eventsPerMonth) ?? 0;
    if (percent <= noticed || !deps.onShareUsed) return;
    account.noticed = percent;
    deps.onShareUsed({ userId, percent, eventsPerMonth, since }).catch(error => {
      account.noticed = noticed;
      log.warn({ err: error, account_id: userId }, 'could not notify an account of its usage');
    });
  };
  const accountOf = (userId: string) => {
    const known = accounts.get(userId);
    if (known && known.untilMs > clock.now()) return known.loading;
    const entry = { loading: load(userId, known?.loading), untilMs: clock.now() + limits.planMs };
    accounts.set(userId, entry);
    entry.loading.catch(() => accounts.delete(userId));
    return entry.loading;
  };

  return {
    takeRequest: sourceId =>
      requireAllowed(rates.take(sourceId, perSource, clock.now()), 'Too many requests to the source.'),
    async takeEvent(userId) {
      const account = await accountOf(userId);
      const policy = { name: 'plan', limit: account.eventsPerMinute, windowMs: limits.rateWindowMs };
      requireAllowed(rates.take(userId, policy, clock.now()), 'Too many events for the plan.');
      if (account.used >= account.eventsPerMonth) {
        notifyUsage(userId, account);
        throw webhookErrors.create('webhooks.quota_exceeded', 'The plan allows no more events this month.', {
          eventsPerMonth: account.eventsPerMonth,
        });
      }
      account.used += 1;
      notifyUsage(userId, account);
      return account;
    },
  };
}

function requireAllowed({ isAllowed, retryMs }: Verdict, message: string): void {
  if (isAllowed) return;
  throw webhookErrors.create<ProblemDetails>('webhooks.rate_limited', message, {
    retryAfterS: Math.max(1, Math.ceil(retryMs / 1000)),
  });
}
