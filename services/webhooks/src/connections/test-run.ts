import { buildRequest, describeFailure, responseText, type SendDeps, send } from '../delivery/attempt.ts';
import { webhookErrors } from '../errors.ts';
import type { Connection } from '../main-table.ts';
import type { Sample, TestResult } from '../schema.ts';
import type { TransformFailure } from '../transforms/transform.ts';

// Runs a sample request through a connection and returns the result of every step. Stores nothing.
export async function testConnection(
  deps: SendDeps,
  connection: Connection,
  sample: Sample,
  eventId: string,
): Promise<TestResult> {
  const { method, headers, query } = sample;
  const body = Buffer.from(sample.body, sample.isBase64 ? 'base64' : 'utf8');
  const request = { method, headers, query, body };
  const rules = await deps.rules.run(connection, request, { filter: true, trace: true });
  if (!rules.ok) throw refuseTest(rules);
  const { filter, transformed } = rules;
  const result: TestResult = { filter: { matched: filter.matched, steps: [...filter.steps] } };
  if (!filter.matched || !transformed) return result;
  if (!transformed.ok && transformed.reason === 'busy') throw refuseTest(transformed);
  result.transform = transformed.ok
    ? { ok: true, dropped: transformed.dropped }
    : { ok: false, reason: transformed.reason, message: transformed.message };
  if (!transformed.ok || transformed.dropped) return result;

  const outgoing = buildRequest(deps, connection, request, transformed, eventId);
  result.request = {
    url: outgoing.url,
    method: outgoing.method,
    headers: outgoing.headers.map(([name, value]) => [name, value]),
    body: Buffer.from(outgoing.body).toString('base64'),
  };
  if (!sample.send) return result;

  const response = await send(deps, outgoing);
  result.response = {
    statusCode: response.status ?? 0,
    latencyMs: response.latencyMs,
    responseBody: responseText(response),
    error: describeFailure(response),
  };
  return result;
}

const refuseTest = ({ reason, message }: TransformFailure) =>
  reason === 'busy'
    ? webhookErrors.create(
        'webhooks.busy',
        'Too many rules of this account are running. Try again in a few seconds.',
        { retryAfterS: 2 },
      )
    : webhookErrors.create('webhooks.rules_failed', `${message}.`, { reason });
