import type { Connection } from './main-table.ts';
import {
  describeAnswer,
  filterRequest,
  type PipelineDeps,
  prepare,
  responseText,
  send,
  transformRequest,
} from './pipeline.ts';
import type { Sample, Trial } from './schema.ts';

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
  const filter = filterRequest(connection, request, true);
  const trial: Trial = { filter: { matched: filter.matched, steps: [...filter.steps] } };
  if (!filter.matched) return trial;

  const shaped = await transformRequest(deps, connection, request);
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
