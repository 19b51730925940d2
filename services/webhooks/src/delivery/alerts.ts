import { type Clock, currentTraceparent, cutText, type Logger } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import { isImported, type Subscription, subscribe } from '@stak/streams';
import { type Store, type WriteStep, write } from '@stak/table';
import type { WebhookDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { type Alert, alert, ferryhookMain, type Source, source } from '../main-table.ts';
import { type Secrets, sourceSecretContext } from '../signatures/secrets.ts';
import { createSigningSecret, signStandardHeaders } from '../signatures/signing.ts';
import { inSeconds, isoTime } from '../tables.ts';

type About = { userId: string; sourceId: string; connectionId: string; eventId?: string; run?: number };

// Part of the transaction that causes the alert. Later alerts of the same hour overwrite it and are not sent.
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
    run: about.run,
    alertKind,
    hour: isoTime(nowMs).slice(0, 13),
    detail: cutText(detail, limits.errorChars),
    raisedAt: isoTime(nowMs),
    expiresAt: inSeconds(nowMs) + limits.alertS,
    trace: currentTraceparent(),
  });

type AlertDeps = {
  store: Store;
  clock: Clock;
  log: Logger;
  outbound: Outbound;
  secrets: Secrets;
  raiseAlert?: WebhookDeps['raiseAlert'];
};

// Sends a new alert to the owner's inbox, and as a signed POST to the source's `alertUrl`.
export function alertSubscription(deps: AlertDeps): Subscription<typeof alert> {
  return subscribe({
    name: 'webhooks-alerts',
    table: ferryhookMain,
    entities: [alert],
    concurrency: limits.alertsTogether,
    async handle(change, { signal, attempt }) {
      if (change.kind !== 'insert' || isImported(change.new)) return;
      await deps.raiseAlert?.(change.new);
      const isTaken = await postAlert(deps, change.new, signal);
      // A dead letter would alert the operator, who cannot fix the address.
      if (!isTaken && attempt < limits.alertAttempts) throw new Error('The alert could not be posted');
    },
  });
}

// False if the request failed and a retry may succeed. A response with an error status would be the same again.
async function postAlert(deps: AlertDeps, raised: Alert, signal: AbortSignal): Promise<boolean> {
  const { store, clock, log, outbound } = deps;
  const { userId, sourceId } = raised;
  const of = await store.get(source, { userId, sourceId });
  if (!of?.alertUrl) return true;
  const { expiresAt: _, trace: __, run: ___, hour, ...fields } = raised;
  const type = `webhooks.${raised.alertKind}`;
  const body = new TextEncoder().encode(JSON.stringify({ type, timestamp: raised.raisedAt, ...fields }));
  const signed = signStandardHeaders({
    secrets: await alertSecrets(deps, of),
    id: `alert_${raised.connectionId}_${raised.alertKind}_${hour}`,
    timestampS: inSeconds(clock.now()),
    body,
  });
  const response = await outbound.send({
    url: of.alertUrl,
    method: 'POST',
    headers: [['content-type', 'application/json'], ['user-agent', 'Ferryhook'], ...signed],
    body,
    timeoutMs: limits.alertTimeoutMs,
    signal,
  });
  const isTaken = response.ok && response.status >= 200 && response.status < 300;
  if (isTaken) return true;
  const reason = response.ok ? `status ${response.status}` : response.message;
  log.warn({ source_id: sourceId, reason }, 'an alert could not be posted');
  return response.ok;
}

// A source from before alerts were signed gets its secret now. Its owner can see one by rotating it.
async function alertSecrets({ store, secrets }: AlertDeps, of: Source): Promise<string[]> {
  const { userId, sourceId } = of;
  const context = sourceSecretContext(sourceId, 'alertSecret');
  if (of.alertSecret !== undefined) return secrets.open(of.alertSecret, context);
  const setOnce = { alertSecret: secrets.seal(createSigningSecret(), context) };
  const { alertSecret } = await store.update(source, { userId, sourceId }, { setOnce });
  return secrets.open(alertSecret, context);
}
