import { createHash } from 'node:crypto';
import type { Admission } from './admission.ts';
import type { Base, WebhookDeps } from './deps.ts';
import { webhookErrors } from './errors.ts';
import { type Receipt, type Received, writeEvent } from './event-writing.ts';
import type { Intake } from './intake.ts';
import * as limits from './limits.ts';
import type { Connection } from './main-table.ts';

export type Acceptance = Base & {
  admission: Admission;
  intake: Intake;
  hasRoom?: WebhookDeps['hasRoom'];
  onReceived(sourceId: string): void; // for those who watch
};

// What every event passes, wherever it comes from. When there is a receipt, the event is on disk together with what
// it owes.
export async function acceptEvent(
  deps: Acceptance,
  arrived: Omit<Received, 'retentionSeconds'>,
  connections: readonly Connection[],
): Promise<Receipt> {
  const { source, request } = arrived;
  if (source.status === 'paused' && source.whilePaused === 'refuse')
    throw webhookErrors.create('webhooks.source_paused', 'This source takes no events now.');

  const plan = await deps.admission.admit(source.userId);
  if (request.body.length > Math.min(plan.bodyBytes ?? limits.bodyBytes, limits.bodyBytes))
    throw webhookErrors.create('webhooks.body_too_large', 'The body is larger than the plan allows.');

  const bytes = request.body.length + limits.eventBytes + connections.length * limits.deliveryBytes;
  if (deps.hasRoom && !(await deps.hasRoom(source.userId, bytes)))
    throw webhookErrors.create(
      'webhooks.storage_limit_reached',
      'The account that this webhook is for has no storage left.',
    );

  const dedupeId = shortId(arrived.dedupeId);
  const { rejection } = arrived;
  const received = { source, request, rejection, dedupeId, retentionSeconds: plan.retentionSeconds };
  const receipt = await writeEvent(deps, received, connections);
  if (!receipt.isDuplicate) {
    deps.onReceived(source.sourceId);
  }
  return receipt;
}

// It becomes part of a key.
function shortId(id: string | undefined): string | undefined {
  if (!id) return undefined;
  if (id.length <= limits.dedupeIdChars && id.isWellFormed()) return id;
  return createHash('sha256').update(id).digest('hex');
}
