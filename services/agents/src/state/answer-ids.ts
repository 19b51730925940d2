import type { ConversationKey } from './lease.ts';

export type Address = ConversationKey & { message_id: string };

// An id of OpenAI's shape says which message it answers, so nothing has to be stored to find it again.
export const idOf = (prefix: string, { conversation_id, message_id }: Omit<Address, 'tenant_id'>): string =>
  prefix + Buffer.from(`${conversation_id}\n${message_id}`).toString('base64url');

export function parseId(prefix: string, id: string): Omit<Address, 'tenant_id'> | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const [conversation_id = '', message_id = '', ...rest] = Buffer.from(id.slice(prefix.length), 'base64url')
    .toString()
    .split('\n');
  const isOurs = conversation_id !== '' && /^msg_[A-Za-z0-9_-]{1,96}$/.test(message_id) && rest.length === 0;
  return isOurs ? { conversation_id, message_id } : undefined;
}
