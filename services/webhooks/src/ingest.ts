import { type Acceptance, acceptEvent } from './acceptance.ts';
import type { Config } from './config.ts';
import { notFound, webhookErrors } from './errors.ts';
import type { Receipt } from './event-writing.ts';
import type { HookRequest } from './filters/request-view.ts';
import * as limits from './limits.ts';
import { isFromOutside, type OutsideSource } from './main-table.ts';
import { type Secrets, sourcePlace } from './secrets.ts';
import { answerHandshake, type Handshake } from './signatures/handshake.ts';
import type { Provider, RefusalReason } from './signatures/provider.ts';
import { hmacConfigOf, readSigningAlgorithm } from './signatures/schema.ts';
import { verify } from './signatures/verification.ts';

export type IngestRequest = HookRequest & { sourceId: string; sourceIp?: string; url: string };
export type IngestAnswer = { handshake: Handshake } | { receipt: Receipt };

export type IngestDeps = Acceptance & { config: Config; secrets: Secrets };

type Proof = { dedupeId?: string; rejection?: RefusalReason };

// Takes what a provider sends. When it answers with a receipt, the event is on disk together with what it owes.
export async function ingest(deps: IngestDeps, request: IngestRequest): Promise<IngestAnswer> {
  const found = await deps.config.of(request.sourceId);
  if (!found || !isFromOutside(found.source)) throw notFound('source');
  const source = found.source;
  deps.admission.admitSource(source.sourceId);
  checkHeaders(request);

  const keys = signingKeys(deps, source);
  const handshake = answerHandshake(source.provider, request, keys.verifyTokens);
  if (handshake && !handshake.signed) return { handshake };
  const proof = prove(deps, source, keys.secrets, request);
  if (handshake && !proof.rejection) return { handshake };
  if (proof.rejection && source.signatures === 'reject')
    throw webhookErrors.create('webhooks.signature_refused', 'The signature is missing or not valid.', {
      reason: proof.rejection,
    });
  return { receipt: await acceptEvent(deps, { request, source, ...proof }, found.connections) };
}

function checkHeaders({ headers, query }: IngestRequest): void {
  let size = query.length;
  for (const [name, value] of headers) size += name.length + value.length;
  if (headers.length > limits.headerPairs || size > limits.headersBytes || query.length > limits.queryChars)
    throw webhookErrors.create('webhooks.headers_too_large', 'The headers or the query are too large.');
}

// Opening a sealed secret costs as much as a small write: it is done once for each version of a source.
const openedKeys = new WeakMap<
  OutsideSource,
  { untilMs: number; secrets: string[]; verifyTokens: string[] }
>();

function signingKeys({ secrets, clock }: IngestDeps, source: OutsideSource) {
  const known = openedKeys.get(source);
  if (known && known.untilMs > clock.now()) return known;
  const opened = {
    untilMs: clock.now() + limits.configMs,
    secrets: secrets.open(source.signingSecret, sourcePlace(source.sourceId, 'signingSecret')),
    verifyTokens: secrets.open(source.verifyToken, sourcePlace(source.sourceId, 'verifyToken')),
  };
  openedKeys.set(source, opened);
  return opened;
}

function prove(
  { clock }: IngestDeps,
  source: OutsideSource,
  secrets: string[],
  request: IngestRequest,
): Proof {
  if (source.signatures === 'off') return { dedupeId: unprovenId(source, request) };
  const verification = verify(source.provider, {
    secrets,
    headers: request.headers,
    rawBody: request.body,
    url: request.url,
    nowMs: clock.now(),
    toleranceS: source.toleranceS,
    config: hmacConfigOf(readSigningAlgorithm(source.signingAlgorithm)),
  });
  // Whoever cannot sign must not be able to occupy an id that a true event will have.
  if (!verification.ok) return { rejection: verification.reason };
  return { dedupeId: verification.dedupeId ?? headerOf(request, source.dedupeHeader) };
}

const idHeaders: Partial<Record<Provider, string>> = {
  github: 'x-github-delivery',
  shopify: 'x-shopify-webhook-id',
  'standard-webhooks': 'webhook-id',
};

const unprovenId = (source: OutsideSource, request: IngestRequest): string | undefined =>
  headerOf(request, source.dedupeHeader ?? idHeaders[source.provider]);

const headerOf = ({ headers }: IngestRequest, name: string | undefined): string | undefined =>
  name === undefined ? undefined : headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
