import { createClientFor } from './client.ts';
import type { ApiTypes } from './generated.ts';
import type { ServerEvent, StreamOptions } from './operation.ts';
import type { ClientSettings } from './settings.ts';

/** The response of an agent so far. */
export type Reply = {
  text: string;
  skills: readonly string[]; // skills that were used for it
  isWaiting: boolean; // whether it waits for an approval
  seq?: number; // of the turn, once it is stored
  failure?: string; // why there is no response
};

/** A reply before anything has arrived. */
export const emptyReply: Reply = { text: '', skills: [], isWaiting: false };

/** Applies an event of the stream to the reply. */
export function growReply(reply: Reply, { event, data }: Pick<ServerEvent, 'event' | 'data'>): Reply {
  const said = data as { text?: string; name?: string; seq?: number; detail?: string };
  if (event === 'delta') return { ...reply, text: reply.text + (said.text ?? '') };
  if (event === 'skill') return { ...reply, skills: [...reply.skills, said.name ?? ''] };
  if (event === 'waiting' || event === 'resumed') return { ...reply, isWaiting: event === 'waiting' };
  if (event === 'restart') return { ...reply, text: '', skills: [] };
  if (event === 'reply') return { ...reply, seq: said.seq };
  if (event === 'error') return { ...reply, failure: said.detail ?? 'There is no answer.' };
  return reply;
}

type Say = { args: ApiTypes['agents.sendMessage']['args'] & { 'idempotency-key': string }; event: unknown };
const operations = {
  'agents.say': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/conversations/{conversation_id}/messages',
    body: 'json',
    headers: ['idempotency-key'],
    isStream: true,
  },
} as const;

/** A key for one message: sending the message again with the same key returns the same reply. */
export const newMessageKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join('-');

/** A message to an agent. With the same `key`, it is sent once, however often it is retried. */
export type AgentMessage = { tenant_id: string; conversation_id: string; content: string; key?: string };

/**
 * Sends a message to an agent, and yields the reply each time it has grown. `client.agents.sendMessage` waits for the
 * whole reply. After a lost connection, the reply continues where it was, because the key stays the same.
 *
 *     for await (const reply of streamReply(settings, { tenant_id, conversation_id, content })) show(reply.text);
 */
export async function* streamReply(
  settings: ClientSettings,
  { content, key = newMessageKey(), ...conversation }: AgentMessage,
  options: StreamOptions = {},
): AsyncGenerator<Reply, void, undefined> {
  const { agents } = createClientFor<{ 'agents.say': Say }>(operations, settings);
  let reply = emptyReply;
  const message = { ...conversation, body: { content }, 'idempotency-key': key };
  for await (const event of agents.say(message, options)) {
    reply = growReply(reply, event);
    yield reply;
  }
}
