import { z } from 'zod';
import * as limits from '../limits.ts';
import type { ChannelKind, ChannelMessage } from './channel.ts';
import { callJson, judge } from './provider-calls.ts';
import { asObject, asText, hmacHex, isRecent, isSame, readJson } from './signatures.ts';

const secret = z.string().min(1).max(limits.credentialChars);

// The channel's id is the workspace (`team_id`).
export const slack = (address: string): ChannelKind => ({
  credentials: z.strictObject({ signing_secret: secret, bot_token: secret }),

  async prove({ clock }, { header, body }, { signing_secret = '' }) {
    const timestamp = header('x-slack-request-timestamp');
    if (signing_secret === '' || !isRecent(timestamp, clock.now())) return false;
    return isSame(header('x-slack-signature'), `v0=${hmacHex(signing_secret, `v0:${timestamp}:`, body)}`);
  },

  read({ channelId, body }) {
    const json = readJson(body);
    if (json.type === 'url_verification') return { messages: [], challenge: asText(json.challenge) };
    if (json.type !== 'event_callback' || json.team_id !== channelId) return { messages: [] };
    const message = readEvent(asObject(json.event));
    return { messages: message ? [message] : [] };
  },

  async send(service, _, { bot_token = '' }, { channel, thread_ts }, text) {
    const called = await callJson(
      service,
      `${address}/chat.postMessage`,
      [['authorization', `Bearer ${bot_token}`]],
      { channel, text: escapeText(text), ...(thread_ts && { thread_ts }) },
    );
    // It answers 200 to everything, and says in the body whether it worked.
    return judge(called, json => json.ok === true);
  },
});

// Slack reads what is between < and > as a command: an answer could call everybody in the channel.
const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const plainText = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

// A mention in a channel comes twice, as two events with ids of their own: time and place are the message's identity.
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
