import { webhookErrors } from './errors.ts';
import type { Connection } from './main-table.ts';
import { describeAnswer, type PipelineDeps, prepare, responseText, send } from './pipeline.ts';
import type { Sample, Trial } from './schema.ts';
import type { TransformFailure } from './transforms/outcome.ts';

// Runs a sample through a connection and shows every step. Nothing is stored.
export async function tryConnection(
  deps: PipelineDeps,
  connection: Connection,
  sample: Sample,
  eventId: string,
): Promise<Trial> {
  const { method, headers, query } = sample;
  const body = Buffer.from(sample.body, sample.isBase64 ? 'base64' : 'utf8');
  const request = { method, headers, query, body };
  const rules = await deps.rules.run(connection, request, { filter: true, trace: true });
  if (!rules.ok) throw refuseTrial(rules);
  const { filter, shaped } = rules;
  const trial: Trial = { filter: { matched: filter.matched, steps: [...filter.steps] } };
  if (!filter.matched || !shaped) return trial;
  if (!shaped.ok && shaped.reason === 'busy') throw refuseTrial(shaped);
  trial.transform = shaped.ok
    ? { ok: true, dropped: shaped.dropped }
    : { ok: false, reason: shaped.reason, message: shaped.message };
  if (!shaped.ok || shaped.dropped) return trial;

  const outgoing = prepare(deps, connection, request, shaped, eventId);
  trial.request = {
    url: outgoing.url,
    method: outgoing.method,
    headers: outgoing.headers.map(([name, value]) => [name, value]),
    body: Buffer.from(outgoing.body).toString('base64'),
  };
  if (!sample.send) return trial;

  const answer = await send(deps, outgoing);
  trial.response = {
    statusCode: answer.status ?? 0,
    latencyMs: answer.latencyMs,
    responseBody: responseText(answer),
    error: describeAnswer(answer),
  };
  return trial;
}

const refuseTrial = ({ reason, message }: TransformFailure) =>
  reason === 'busy'
    ? webhookErrors.create('webhooks.busy', 'Too many of your rules are running.', { retryAfterS: 2 })
    : webhookErrors.create('webhooks.rules_failed', `${message}.`, { reason });
