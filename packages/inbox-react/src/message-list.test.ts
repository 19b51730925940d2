import { describe, expect, it } from 'vitest';
import { unreadMessage } from '../test/unread-message.ts';
import type { Change, InboxConnection } from './inbox-connection.ts';
import { type ListOptions, listMessages } from './message-list.ts';

// The unread messages of an inbox that the test controls.
async function openUnread(options?: ListOptions) {
  let tell = (_: Change) => {};
  const inbox: Pick<InboxConnection, 'onChange' | 'readPage'> = {
    onChange(listener) {
      tell = listener;
      return () => {};
    },
    readPage: async () => ({ data: [unreadMessage('m2'), unreadMessage('m1')], next_cursor: null }),
  };
  const list = listMessages(inbox as InboxConnection, { isRead: false }, options);
  list.open();
  await expect.poll(() => list.snapshot().messages.length).toBe(2);
  return {
    list,
    tell: (change: Change) => tell(change),
    ids: () => list.snapshot().messages.map(message => message.id),
  };
}

const read = (id: string): Change => ({ kind: 'message', message: { ...unreadMessage(id), read: true } });

describe('a list of the unread', () => {
  it('removes read messages', async () => {
    const { tell, ids } = await openUnread();
    tell(read('m1'));
    expect(ids()).toEqual(['m2']);
  });

  it('keeps messages marked read in the list, and adds none that were not in it', async () => {
    const { list, tell, ids } = await openUnread({ keepsMarked: true });
    tell(read('m1'));
    tell(read('m3'));
    expect(ids()).toEqual(['m2', 'm1']);
    expect(list.snapshot().messages[1]?.read).toBe(true);
    tell({ kind: 'message', message: { ...unreadMessage('m2'), archived: true } });
    tell({ kind: 'gone', id: 'm1' });
    expect(ids()).toEqual([]);
  });
});
