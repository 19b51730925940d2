import { ferryhookMain } from '@stak/accounts';
import { cutText, type Logger } from '@stak/kit';
import type { Outbound } from '@stak/outbound';
import { type Subscription, subscribe } from '@stak/streams';
import { type Store, type WriteStep, write } from '@stak/table';
import { inSeconds, isoTime, type WebhookDeps } from './deps.ts';
import * as limits from './limits.ts';
import { type Alert, alert, source } from './main-table.ts';

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

// A new alert becomes a message to the owner and a POST to the address the source names for it.
export function alertSubscription(deps: {
  store: Store;
  log: Logger;
  outbound: Outbound;
  raiseAlert?: WebhookDeps['raiseAlert'];
}): Subscription<typeof alert> {
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

async function postAlert(
  { store, log, outbound }: { store: Store; log: Logger; outbound: Outbound },
  raised: Alert,
  signal: AbortSignal,
): Promise<void> {
  const { userId, sourceId } = raised;
  const of = await store.get(source, { userId, sourceId });
  if (!of?.alertUrl) return;
  const { expiresAt: _, hour: _hour, ...body } = raised;
  const answer = await outbound.send({
    url: of.alertUrl,
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['user-agent', 'Ferryhook'],
    ],
    body: JSON.stringify({ type: `webhooks.${raised.alertKind}`, ...body }),
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
