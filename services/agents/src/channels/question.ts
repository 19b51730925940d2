import { cutText } from '@stak/kit';
import { isRefused } from '@stak/table';
import type { Base, Service } from '../deps.ts';
import * as limits from '../limits.ts';
import { pausedTurn } from '../main-table.ts';
import { type ConversationKey, keyOfConversation } from '../state/lease.ts';
import { type ApprovalItem, type Progress, readApprovals, readPaused } from '../state/paused.ts';
import type { Outcome, ProviderDeps, Question } from './channel.ts';
import { openSecrets } from './secrets.ts';
import type { ReplyAddress } from './send-reply.ts';

const outcomes = {
  approved: 'Approved.',
  refused: 'Refused.',
  expired: 'It was not decided in time.',
  cancelled: 'It is no longer needed.',
} as const;

// For a channel with buttons.
const questionOf = (conversation_id: string, approvals: readonly ApprovalItem[]): Question => ({
  text: approvals.some(({ status }) => status === 'waiting')
    ? 'This needs an approval first:'
    : 'This needed an approval:',
  conversation_id,
  calls: approvals.map(({ approval_id, name, input, status, reason }) => ({
    approval_id,
    text: `${name} ${cutText(input, limits.questionChars)}`,
    ...(status !== 'waiting' && {
      outcome: status === 'refused' && reason ? `Refused: ${reason}` : outcomes[status],
    }),
  })),
});

// The message with the buttons: its id in the channel, and the statuses that it shows.
type ShownQuestion = Omit<ReplyAddress, 'tenant_id'> & { as: Record<string, string>; statuses: string };

const statusesOf = (approvals: readonly ApprovalItem[]): string =>
  approvals.map(({ status }) => status).join(' ');

// Shows the question of a paused turn with its buttons. Does nothing if the turn has continued in the meantime.
export async function askInChannel(
  service: Base & Pick<Service, 'outbound' | 'channels'>,
  key: ConversationKey,
  turnId: string,
  { type, channel_id, to, secrets }: ReplyAddress & { secrets: Record<string, string> },
): Promise<Outcome> {
  const paused = await readPaused(service, key);
  const approvals = paused?.turn_id === turnId ? await readApprovals(service, key, paused) : [];
  if (approvals.length === 0) return { ok: true };
  const question = questionOf(key.conversation_id, approvals);
  const outcome = await service.channels[type].ask!(service, channel_id, secrets, to, question);
  if (outcome.ok && outcome.shownAs) {
    const shown = { type, channel_id, to, as: outcome.shownAs, statuses: statusesOf(approvals) };
    // It is sent: an error here must not send it again. It is only not updated later.
    await keepShown(service, key, turnId, shown).catch(error =>
      service.log.warn({ err: error, ...key, type }, 'where a question is shown was not stored'),
    );
  }
  return outcome;
}

// Updates the message with the decision, and removes the buttons. Tried once: pressing a remaining button shows what
// was decided.
export async function showDecisions(
  service: ProviderDeps & Pick<Service, 'store' | 'sealer' | 'channels'>,
  key: ConversationKey,
  { turn_id, shown: text }: Pick<Progress, 'turn_id' | 'shown'>,
  approvals: readonly ApprovalItem[],
): Promise<void> {
  const shown = text === undefined ? undefined : (JSON.parse(text) as ShownQuestion);
  const statuses = statusesOf(approvals);
  if (!shown || shown.statuses === statuses) return;
  const { type, channel_id, to, as } = shown;
  try {
    const opened = await openSecrets(service, { type, channel_id });
    if (opened?.tenant_id !== key.tenant_id) return;
    const question = questionOf(key.conversation_id, approvals);
    const outcome = await service.channels[type].ask?.(service, channel_id, opened.secrets, to, question, as);
    if (outcome?.ok) await keepShown(service, key, turn_id, { ...shown, statuses });
    else service.log.warn({ ...key, type, reason: outcome?.reason }, 'a question was not updated');
  } catch (error) {
    service.log.warn({ err: error, ...key }, 'a question was not updated');
  }
}

const keepShown = (
  { store }: Pick<Service, 'store'>,
  key: ConversationKey,
  turn_id: string,
  shown: ShownQuestion,
): Promise<unknown> =>
  store
    .update(
      pausedTurn,
      keyOfConversation(key),
      { set: { shown: JSON.stringify(shown) } },
      { if: { turn_id }, pattern: 'keep where a question is shown' },
    )
    .catch(error => {
      if (!isRefused(error)) throw error; // the turn is over
    });
