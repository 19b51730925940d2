import type { Message, Part } from './message-format.ts';

export type WindowLimits = { messages: number; tokens: number };

// An estimate that needs no model's tokenizer: English has four bytes per token; other scripts have more bytes and more
// tokens.
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

const tokensOfMessage = ({ content }: Message): number =>
  4 + tokensOf(typeof content === 'string' ? content : JSON.stringify(content));

export const tokensOfMessages = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + tokensOfMessage(message), 0);

// The newest whole turns that fit, by count and then by tokens. `turns` are oldest first.
export function windowOf(
  turns: readonly (readonly Message[])[],
  { messages, tokens }: WindowLimits,
): Message[] {
  const kept: Message[][] = [];
  let count = 0;
  let cost = 0;
  for (const turn of turns.toReversed()) {
    const whole = dropOrphans(turn);
    count += whole.length;
    cost += tokensOfMessages(whole);
    if (count > messages || cost > tokens) break;
    kept.unshift(whole);
  }
  return kept.flat();
}

// A turn that begins with results of the caller's tools continues the one that called them.
export function joinContinued(turns: readonly (readonly Message[])[]): Message[][] {
  const joined: Message[][] = [];
  for (const turn of turns) {
    if (turn[0]?.role === 'tool' && joined.length > 0) joined.at(-1)!.push(...turn);
    else joined.push([...turn]);
  }
  return joined;
}

const idsOf = (messages: readonly Message[], type: 'tool-call' | 'tool-result'): Set<string> =>
  new Set(
    messages.flatMap(({ content }) =>
      typeof content === 'string'
        ? []
        : content.flatMap(part => (part.type === type ? [part.toolCallId] : [])),
    ),
  );

// Providers refuse the whole conversation if a call has no result, or a result has no call.
export function dropOrphans(messages: readonly Message[]): Message[] {
  const [calls, results] = [idsOf(messages, 'tool-call'), idsOf(messages, 'tool-result')];
  const isWhole = (part: Part): boolean => {
    if (part.type === 'tool-call') return results.has(part.toolCallId);
    return part.type !== 'tool-result' || calls.has(part.toolCallId);
  };
  return messages.flatMap((message): Message[] => {
    if (typeof message.content === 'string') return [message];
    const content = message.content.filter(isWhole);
    return content.length === 0 ? [] : [{ ...message, content } as Message];
  });
}
