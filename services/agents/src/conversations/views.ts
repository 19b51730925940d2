import { draftVersion } from '../agents/current.ts';
import * as limits from '../limits.ts';
import { defaultAgent } from '../settings.ts';
import type { Caller } from '../state/access.ts';
import { openCalls, parseMessages, readPlain } from '../state/message-format.ts';
import { type Head, plainTurn, type TurnItem } from '../state/turn-items.ts';

// Responses of the API.

// The draft has no number.
const showVersion = (version: number | undefined): number | 'draft' | null =>
  version === draftVersion ? 'draft' : (version ?? null);

const figuresOf = (item: TurnItem) => ({
  agent: item.agent ?? defaultAgent,
  agent_version: showVersion(item.agent_version),
  handed_from: item.handed_from ?? null,
  routing: item.routing,
  rule: item.rule ?? null,
  skills: item.skills ?? [],
  model: item.model ?? null,
  usage: { input_tokens: item.input_tokens ?? 0, output_tokens: item.output_tokens ?? 0 },
  cost_usd: (item.cost_micros ?? 0) / limits.microsPerUsd,
});

// What the host thinks of an answer is for the host.
export const showTurn = (item: TurnItem, { kind }: Pick<Caller, 'kind'>) => ({
  seq: item.seq,
  created_at: item.created_at,
  ...figuresOf(item),
  messages: parseMessages(item.messages),
  feedback: showFeedback(item.rating, item.rating_comment, item.rated_at),
  host_feedback:
    kind === 'account' ? showFeedback(item.host_rating, item.host_rating_comment, item.host_rated_at) : null,
});

const showFeedback = (rating: TurnItem['rating'], comment: string | null = null, rated_at = '') =>
  rating ? { rating, comment, rated_at } : null;

export const answerOf = (item: Pick<TurnItem, 'messages'>): string =>
  plainTurn(item)
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => content)
    .join('\n\n');

// Calls that the answer ends with: of tools that its caller runs.
function callsOf(item: TurnItem) {
  if (!item.messages.includes('"tool-call"')) return {};
  const calls = openCalls(parseMessages(item.messages));
  return calls.length === 0 ? {} : { tool_calls: calls };
}

export const showReply = (item: TurnItem, message_id: string) => ({
  message_id,
  conversation_id: item.conversation_id,
  status: 'answered' as const,
  seq: item.seq,
  created_at: item.created_at,
  reply: { role: 'assistant' as const, content: answerOf(item) },
  ...callsOf(item),
  merged: item.message_ids.length,
  ...(item.finish_reason && { finish_reason: item.finish_reason }),
  ...figuresOf(item),
});

export type Listed = Partial<Head> & { conversation_id: string };

export const showListed = (head: Listed) => ({
  conversation_id: head.conversation_id,
  title: head.title ?? null,
  user_id: head.user_id ?? null,
  channel: head.channel ?? null,
  turns: head.last_seq ?? 0,
  created_at: head.created_at ?? null,
  updated_at: head.updated_at ?? null,
});

export const showConversation = (head: Head) => ({
  ...showListed(head),
  agent: head.agent ?? defaultAgent,
  agent_version: showVersion(head.agent_version),
  expires_at: new Date(head.ttl * 1000).toISOString(),
  messages: readPlain(head.messages),
});
