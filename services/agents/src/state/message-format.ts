import { hash } from 'node:crypto';
import * as limits from '../limits.ts';

// A message as it is stored in the log and read by the AI SDK. Text alone is a string, as documented; everything else a
// model did is a list of parts.
export type Part =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: unknown }
  | { type: 'tool-result'; toolCallId: string; toolName: string; output: { type: string; value: unknown } };
export type Message =
  | { role: 'user' | 'system'; content: string }
  | { role: 'assistant'; content: string | Part[] }
  | { role: 'tool'; content: Part[] };

export type PlainMessage = { role: 'user' | 'assistant' | 'system'; content: string };

export const textOf = (content: string | readonly Part[]): string =>
  typeof content === 'string'
    ? content
    : content.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('');

export const partsOf = (messages: readonly Message[]): Part[] =>
  messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

export type OpenCall = { tool_call_id: string; name: string; input: unknown };

// Calls without a result.
export function openCalls(messages: readonly Message[]): OpenCall[] {
  const parts = partsOf(messages);
  const closed = new Set(parts.flatMap(part => (part.type === 'tool-result' ? [part.toolCallId] : [])));
  return parts.flatMap(part =>
    part.type === 'tool-call' && !closed.has(part.toolCallId)
      ? [{ tool_call_id: part.toolCallId, name: part.toolName, input: part.input }]
      : [],
  );
}

// The documented part of messages, without calls of skills and their results.
export function plainMessages(messages: readonly Message[]): PlainMessage[] {
  return messages.flatMap(({ role, content }) => {
    const text = textOf(content);
    return role === 'tool' || text === '' ? [] : [{ role, content: text }];
  });
}

export function parseMessages(text: string): Message[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isMessage) : [];
  } catch {
    return [];
  }
}

const roles = new Set(['user', 'assistant', 'system', 'tool']);

function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as { role?: unknown; content?: unknown };
  return (
    typeof role === 'string' && roles.has(role) && (typeof content === 'string' || Array.isArray(content))
  );
}

// The messages of the documented item. Invalid ones of another program are left out.
export const readPlain = (text: string): PlainMessage[] => plainMessages(parseMessages(text));

// A turn starts when the user writes after another role: several messages in a row are one turn.
export function splitTurns<M extends { role: string }>(messages: readonly M[]): M[][] {
  const turns: M[][] = [];
  let before: string | undefined;
  for (const message of messages) {
    const begins = message.role === 'user' && before !== 'user' && before !== 'system';
    if (begins || turns.length === 0) turns.push([]);
    turns.at(-1)!.push(message);
    before = message.role;
  }
  return turns;
}

// A message of the documented item, as JSON.
export type WrittenMessage = { role: string; json: string };

export const writeMessage = (message: PlainMessage): WrittenMessage => ({
  role: message.role,
  json: JSON.stringify(message),
});

const begin = '{"role":"';

// The messages of an item that `headMessages` wrote. Most are written again with the next turn, so they are not parsed:
// a message begins in a way that cannot occur within one, where quotation marks are escaped.
export function splitWritten(text: string): WrittenMessage[] {
  const messages: WrittenMessage[] = [];
  for (let start = text.indexOf(begin); start >= 0; ) {
    const next = text.indexOf(begin, start + begin.length);
    const json = text.slice(start, next < 0 ? -1 : next - 1);
    messages.push({ role: json.slice(begin.length, json.indexOf('"', begin.length)), json });
    start = next;
  }
  return messages;
}

// The `messages` of the documented item: the newest whole turns that fit, so that the item costs the same after ten
// turns and after ten thousand.
export function headMessages(turns: readonly (readonly WrittenMessage[])[], mostMessages: number): string {
  const kept: string[] = [];
  let bytes = 2;
  let count = 0;
  for (const turn of turns.toReversed()) {
    for (const { json } of turn) bytes += Buffer.byteLength(json) + 1;
    count += turn.length;
    if (kept.length > 0 && (bytes > limits.headBytes || count > mostMessages)) break;
    kept.push(...turn.map(({ json }) => json).reverse());
  }
  return `[${kept.reverse().join(',')}]`;
}

export const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);

// Never cuts inside a character.
export function cutBytes(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostBytes) return text;
  let end = mostBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

// For text from outside: half characters have no UTF-8, and control characters grow sixfold in JSON.
export const cleanText = (text: string): string =>
  text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, character => (character === '\r' ? '' : '\ufffd'));
export const isCleanText = (text: string): boolean => text.isWellFormed() && !/[^\P{Cc}\n\r\t]/u.test(text);
