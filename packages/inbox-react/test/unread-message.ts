import type { Message } from '../src/message.ts';

export const unreadMessage = (id: string): Message => ({
  id,
  host_system_id: null,
  sender: 'shop',
  audiences: { kind: 'users' },
  received: 1,
  delivered: 1,
  expiredat: 99_999_999_999,
  read: false,
  readat: null,
  seen: true,
  archived: false,
  snoozed_until: null,
  message: { title: 'Hello', cta_uri: null },
});
