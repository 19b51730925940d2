import { buildRequest, describeFailure, responseText, type SendDeps, send } from '../delivery/attempt.ts';
import { webhookErrors } from '../errors.ts';
import type { HookRequest } from '../filters/request-view.ts';
import type { Connection } from '../main-table.ts';
import type { RulesSample, TestResult } from '../schema.ts';
import type { RuleSet } from '../transforms/rules.ts';
import type { TransformFailure, TransformOutcome } from '../transforms/transform.ts';

type Tried = Pick<TestResult, 'filter' | 'transform'>;
type Passed = Extract<TransformOutcome, { ok: true; dropped: false }>;

/** The request that a sample stands for. */
export function requestOf({ method, headers, query, ...sample }: RulesSample): HookRequest {
  return { method, headers, query, body: Buffer.from(sample.body, sample.isBase64 ? 'base64' : 'utf8') };
}

/** What the rules do with a request, step by step; `passed` if something is left to send. */
export async function tryRules(
  { rules }: Pick<SendDeps, 'rules'>,
  ruleSet: RuleSet,
  request: HookRequest,
): Promise<{ tried: Tried; passed?: Passed }> {
  const outcome = await rules.run(ruleSet, request, { filter: true, trace: true });
  if (!outcome.ok) throw refuseRules(outcome);
  const { filter, transformed } = outcome;
  const tried: Tried = { filter: { matched: filter.matched, steps: [...filter.steps] } };
  if (!filter.matched || !transformed) return { tried };
  if (!transformed.ok && transformed.reason === 'busy') throw refuseRules(transformed);
  tried.transform = transformed.ok
    ? { ok: true, dropped: transformed.dropped }
    : { ok: false, reason: transformed.reason, message: transformed.message };
  return transformed.ok && !transformed.dropped ? { tried, passed: transformed } : { tried };
}

// Runs a request through a connection and returns the result of every step. Stores nothing.
export async function testConnection(
  deps: SendDeps,
  connection: Connection,
  request: HookRequest,
  { eventId, isSent }: { eventId: string; isSent: boolean },
): Promise<TestResult> {
  const { tried, passed } = await tryRules(deps, connection, request);
  const result: TestResult = tried;
  if (!passed) return result;

  const outgoing = buildRequest(deps, connection, request, passed, eventId);
  result.request = {
    url: outgoing.url,
    method: outgoing.method,
    headers: outgoing.headers.map(([name, value]) => [name, value]),
    body: Buffer.from(outgoing.body).toString('base64'),
  };
  if (!isSent) return result;

  const response = await send(deps, outgoing);
  result.response = {
    statusCode: response.status ?? 0,
    latencyMs: response.latencyMs,
    responseBody: responseText(response),
    error: describeFailure(response),
  };
  return result;
}

export const refuseRules = ({ reason, message }: TransformFailure) =>
  reason === 'busy'
    ? webhookErrors.create(
        'webhooks.busy',
        'Too many rules of this account are running. Try again in a few seconds.',
        { retryAfterS: 2 },
      )
    : webhookErrors.create('webhooks.rules_failed', `${message}.`, { reason });
