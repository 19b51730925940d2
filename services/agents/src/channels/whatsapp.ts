import { z } from 'zod';
import * as limits from '../limits.ts';
import type { ChannelKind, ChannelMessage } from './channel.ts';
import { callJson, judge } from './provider-calls.ts';
import { asList, asNumber, asObject, asText, hmacHex, isSame, readJson } from './signatures.ts';

const secret = z.string().min(1).max(limits.credentialChars);

// The channel's id is the phone number's (`metadata.phone_number_id`).
export const whatsapp = (address: string): ChannelKind => ({
  credentials: z.strictObject({ app_secret: secret, verify_token: secret, access_token: secret }),

  prove: async (_, { header, body }, { app_secret = '' }) =>
    app_secret !== '' && isSame(header('x-hub-signature-256'), `sha256=${hmacHex(app_secret, body)}`),

  greet: (query, { verify_token = '' }) =>
    query['hub.mode'] === 'subscribe' && isSame(query['hub.verify_token'], verify_token)
      ? query['hub.challenge']
      : undefined,

  read({ channelId, body }) {
    const values = asList(readJson(body).entry)
      .flatMap(entry => asList(asObject(entry).changes))
      .map(change => asObject(asObject(change).value))
      .filter(value => asObject(value.metadata).phone_number_id === channelId);
    const messages = values.flatMap(value => asList(value.messages)).flatMap(readMessage);
    return { messages: messages.slice(0, limits.messagesPerWebhook) };
  },

  async send(service, channelId, { access_token = '' }, { to }, text) {
    const body = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to,
      type: 'text',
      text: { body: text },
    };
    const url = `${address}/${encodeURIComponent(channelId)}/messages`;
    return judge(
      await callJson(service, url, [['authorization', `Bearer ${access_token}`]], body),
      () => true,
    );
  },
});

function readMessage(value: unknown): ChannelMessage[] {
  const message = asObject(value);
  const [id, from] = [asText(message.id), asText(message.from)];
  const text = asText(asObject(message.text).body);
  if (id === '' || from === '' || text.trim() === '') return [];
  return [{ id, identity: from, chat: from, text, atS: asNumber(message.timestamp), replyTo: { to: from } }];
}
