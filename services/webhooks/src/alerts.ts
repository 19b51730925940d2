import { ferryhookMain } from '@stak/accounts';
import { type Clock, cutText, type Logger } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import { type Subscription, subscribe } from '@stak/streams';
import { type Store, type WriteStep, write } from '@stak/table';
import { inSeconds, isoTime, type WebhookDeps } from './deps.ts';
import * as limits from './limits.ts';
import { type Alert, alert, type Source, source } from './main-table.ts';
import { type Secrets, sourcePlace } from './secrets.ts';
import { createSigningSecret, signStandardHeaders } from './signatures/signing.ts';

type About = { userId: string; sourceId: string; connectionId: string; eventId?: string };

// Part of the transaction that gives reason for it. Later ones of the same hour overwrite it and are not heard of.
export const alertStep = (
  about: About,
  alertKind: Alert['alertKind'],
  nowMs: number,
  detail: string,
): WriteStep =>
  write.put(alert, {
    userId: about.userId,
    sourceId: about.sourceId,
    connectionId: about.connectionId,
    eventId: about.eventId,
    alertKind,
    hour: isoTime(nowMs).slice(0, 13),
    detail: cutText(detail, limits.errorChars),
    raisedAt: isoTime(nowMs),
    expiresAt: inSeconds(nowMs) + limits.alertS,
  });

type AlertDeps = {
  store: Store;
  clock: Clock;
  log: Logger;
  outbound: Outbound;
  secrets: Secrets;
  raiseAlert?: WebhookDeps['raiseAlert'];
};

// A new alert becomes a message to the owner and a signed POST to the address the source names for it.
export function alertSubscription(deps: AlertDeps): Subscription<typeof alert> {
  return subscribe({
    name: 'webhooks-alerts',
    table: ferryhookMain,
    entities: [alert],
    concurrency: limits.alertsTogether,
    async handle(change, { signal }) {
      if (change.kind !== 'insert') return;
      await deps.raiseAlert?.(change.new);
      await postAlert(deps, change.new, signal);
    },
  });
}

async function postAlert(deps: AlertDeps, raised: Alert, signal: AbortSignal): Promise<void> {
  const { store, clock, log, outbound } = deps;
  const { userId, sourceId } = raised;
  const of = await store.get(source, { userId, sourceId });
  if (!of?.alertUrl) return;
  const { expiresAt: _, hour, ...fields } = raised;
  const type = `webhooks.${raised.alertKind}`;
  const body = new TextEncoder().encode(JSON.stringify({ type, timestamp: raised.raisedAt, ...fields }));
  const signed = signStandardHeaders({
    secrets: await alertSecrets(deps, of),
    id: `alert_${raised.connectionId}_${raised.alertKind}_${hour}`,
    timestampS: inSeconds(clock.now()),
    body,
  });
  const answer = await outbound.send({
    url: of.alertUrl,
    method: 'POST',
    headers: [['content-type', 'application/json'], ['user-agent', 'Ferryhook'], ...signed],
    body,
    timeoutMs: limits.alertTimeoutMs,
    signal,
  });
  const isTaken = answer.ok && answer.status >= 200 && answer.status < 300;
  if (isTaken) return;
  const reason = answer.ok ? `status ${answer.status}` : answer.message;
  log.warn({ source_id: sourceId, reason }, 'an alert could not be posted');
  // The stream's own retries are for this; a status is an answer, and asking again would not change it.
  if (!answer.ok) throw new Error(`The alert could not be posted: ${reason}`);
}

// A source from before alerts were signed gets its secret now; its owner learns one by rotating it.
async function alertSecrets({ store, secrets }: AlertDeps, of: Source): Promise<string[]> {
  const { userId, sourceId } = of;
  const place = sourcePlace(sourceId, 'alertSecret');
  if (of.alertSecret !== undefined) return secrets.open(of.alertSecret, place);
  const setOnce = { alertSecret: secrets.seal(createSigningSecret(), place) };
  const { alertSecret } = await store.update(source, { userId, sourceId }, { setOnce });
  return secrets.open(alertSecret, place);
}
