import { cutText } from '@stak/kit';
import { z } from 'zod';
import type { Service } from '../deps.ts';
import * as limits from '../limits.ts';
import type { ChannelKind, ChannelMessage, ChannelPress, Question } from './channel.ts';
import { callJson, judge } from './provider-calls.ts';
import { asList, asObject, asText, hmacHex, isRecent, isSame, readJson } from './signatures.ts';

const secret = z.string().min(1).max(limits.credentialChars);

// The channel's id is the workspace (`team_id`).
export const slack = (address: string): ChannelKind => ({
  credentials: z.strictObject({ signing_secret: secret, bot_token: secret }),

  async prove({ clock }, { header, body }, { signing_secret = '' }) {
    const timestamp = header('x-slack-request-timestamp');
    if (signing_secret === '' || !isRecent(timestamp, clock.now())) return false;
    return isSame(header('x-slack-signature'), `v0=${hmacHex(signing_secret, `v0:${timestamp}:`, body)}`);
  },

  read({ channelId, header, body }) {
    if (/^application\/x-www-form-urlencoded\b/i.test(header('content-type') ?? ''))
      return { messages: [], presses: readPresses(channelId, body) };
    const json = readJson(body);
    if (json.type === 'url_verification') return { messages: [], challenge: asText(json.challenge) };
    if (json.type !== 'event_callback' || json.team_id !== channelId) return { messages: [] };
    const message = readEvent(asObject(json.event));
    return { messages: message ? [message] : [] };
  },

  async send(service, _, { bot_token }, { channel, thread_ts }, text) {
    const message = { channel, text: escapeText(text), ...(thread_ts && { thread_ts }) };
    return judge(await callSlack(service, address, 'chat.postMessage', bot_token, message), isFine);
  },

  async ask(service, _, { bot_token }, { channel, thread_ts }, question, shownAs) {
    const message = { text: escapeText(textOf(question)), blocks: blocksOf(question) };
    const called = shownAs
      ? await callSlack(service, address, 'chat.update', bot_token, { ...shownAs, ...message })
      : await callSlack(service, address, 'chat.postMessage', bot_token, {
          channel,
          ...message,
          ...(thread_ts && { thread_ts }),
        });
    const outcome = judge(called, isFine);
    if (!outcome.ok || 'failed' in called) return outcome;
    const as = { channel: asText(called.json.channel), ts: asText(called.json.ts) };
    return as.channel === '' || as.ts === '' ? outcome : { ...outcome, shownAs: as };
  },

  async sendPrivately(service, _, { bot_token }, privateTo, text) {
    const message = { ...privateTo, text: escapeText(text) };
    return judge(await callSlack(service, address, 'chat.postEphemeral', bot_token, message), isFine);
  },
});

const callSlack = (
  service: Pick<Service, 'clock' | 'outbound'>,
  address: string,
  method: string,
  token = '',
  body: object = {},
) => callJson(service, `${address}/${method}`, [['authorization', `Bearer ${token}`]], body);

// Slack always responds with 200, and reports success in the body.
const isFine = (json: Readonly<Record<string, unknown>>): boolean => json.ok === true;

// Plain text: output of a model must not be parsed as a link or a command.
const plain = (text: string) => ({
  type: 'plain_text',
  text: cutText(text, limits.blockChars),
  emoji: false,
});
const sectionOf = (text: string) => ({ type: 'section', text: plain(text) });

// For places that do not show blocks, such as notifications.
const textOf = ({ text, calls }: Question): string =>
  [text, ...calls.map(call => `- ${call.text}`)].join('\n');

const blocksOf = ({ text, conversation_id, calls }: Question) => [
  sectionOf(text),
  ...calls.flatMap(call => {
    const value = `${conversation_id} ${call.approval_id}`;
    const button = (action_id: string, label: string, style: string) => ({
      type: 'button',
      action_id,
      style,
      text: plain(label),
      value,
    });
    const buttons = [button('approve', 'Approve', 'primary'), button('refuse', 'Refuse', 'danger')];
    return [
      sectionOf(call.text),
      call.outcome === undefined
        ? { type: 'actions', block_id: call.approval_id, elements: buttons }
        : { type: 'context', elements: [plain(call.outcome)] },
    ];
  }),
];

// An interaction is a form with one field, signed like an event.
function readPresses(channelId: string, body: Uint8Array): ChannelPress[] {
  const payload = new URLSearchParams(new TextDecoder().decode(body)).get('payload') ?? '';
  const json = readJson(new TextEncoder().encode(payload));
  if (json.type !== 'block_actions' || asText(asObject(json.team).id) !== channelId) return [];
  const identity = asText(asObject(json.user).id);
  const channel = asText(asObject(json.channel).id);
  return asList(json.actions)
    .slice(0, limits.pressesPerWebhook)
    .flatMap(one => {
      const { action_id, value } = asObject(one);
      const [conversation_id = '', approval_id = ''] = asText(value).split(' ');
      if (identity === '' || approval_id === '' || (action_id !== 'approve' && action_id !== 'refuse'))
        return [];
      const privateTo = channel === '' ? undefined : { channel, user: identity };
      return [{ identity, conversation_id, approval_id, approved: action_id === 'approve', privateTo }];
    });
}

// Slack parses text between < and > as a command: an answer could notify everyone in the channel.
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const plainText = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

// A mention in a channel arrives twice, as two events with different ids: time and channel identify the message.
function readEvent(event: Readonly<Record<string, unknown>>): ChannelMessage | undefined {
  if (event.type !== 'message' && event.type !== 'app_mention') return undefined;
  if (event.bot_id !== undefined || event.subtype !== undefined) return undefined; // bots, edits, joins
  const [channel, ts, user] = [asText(event.channel), asText(event.ts), asText(event.user)];
  const text = plainText(asText(event.text).replace(/^\s*<@[A-Z0-9]+>\s*/, ''));
  if (channel === '' || ts === '' || user === '' || text.trim() === '') return undefined;
  const thread = asText(event.thread_ts);
  return {
    id: `${channel} ${ts}`,
    identity: user,
    chat: `${channel} ${thread} ${user}`,
    text,
    replyTo: thread === '' ? { channel } : { channel, thread_ts: thread },
  };
}
