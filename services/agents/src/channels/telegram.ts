import { z } from 'zod';
import * as limits from '../limits.ts';
import type { ChannelKind } from './channel.ts';
import { callJson, judge } from './provider-calls.ts';
import { asNumber, asObject, asText, isSame, readJson } from './signatures.ts';

const secret = z.string().min(1).max(limits.credentialChars);

// The channel's id is the bot's. Telegram does not sign: it repeats a secret that was set with the webhook.
export const telegram = (address: string): ChannelKind => ({
  credentials: z.strictObject({
    secret_token: secret.regex(/^[A-Za-z0-9_-]{16,256}$/, '16 to 256 letters, digits, _ and -'),
    bot_token: secret.regex(/^\d+:[A-Za-z0-9_-]+$/, 'As the BotFather gave it'),
  }),

  prove: async (_, { header }, { secret_token = '' }) =>
    isSame(header('x-telegram-bot-api-secret-token'), secret_token),

  read({ body }) {
    const json = readJson(body);
    const message = asObject(json.message);
    const chat = asText(asObject(message.chat).id);
    const from = asObject(message.from);
    const [identity, text] = [asText(from.id), asText(message.text)];
    const id = asText(json.update_id);
    if (id === '' || chat === '' || identity === '' || from.is_bot === true || text.trim() === '')
      return { messages: [] };
    const said = { id, identity, chat: `${chat} ${identity}`, text, atS: asNumber(message.date) };
    return { messages: [{ ...said, replyTo: { chat_id: chat } }] };
  },

  async send(service, _, { bot_token = '' }, { chat_id }, text) {
    const called = await callJson(service, `${address}/bot${bot_token}/sendMessage`, [], { chat_id, text });
    return judge(called, json => json.ok === true);
  },
});
