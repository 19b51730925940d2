import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { ConnectionState, Snapshot } from './inbox-connection.ts';
import type { Counts, Filter, Mark, Message, Span } from './message.ts';
import { type ListOptions, type ListSnapshot, listMessages } from './message-list.ts';
import { useInbox } from './provider.tsx';

const useSnapshot = (): Snapshot => {
  const inbox = useInbox();
  return useSyncExternalStore(inbox.subscribe, inbox.snapshot, inbox.snapshot);
};

/** Returns how many messages there are, unread and unseen; undefined until the server has responded. */
export const useCounts = (): Counts | undefined => useSnapshot().counts;

/** Returns whether the inbox is connected, and the last error. */
export function useConnection(): { state: ConnectionState; error: string | undefined } {
  const { connection, error } = useSnapshot();
  return { state: connection, error };
}

/** A list of messages with its actions. Returned by `useMessages`. */
export type Messages = ListSnapshot & {
  reload(): Promise<void>;
  loadMore(): Promise<void>;
  mark(message: Message, mark: Mark): Promise<void>;
  markAllRead(span?: Span): Promise<void>;
};

/**
 * Returns the messages of a view, newest first, and keeps them up to date while the component is mounted.
 *
 *     const { messages, loadMore, mark } = useMessages({ view: 'inbox' });
 */
export function useMessages(
  { view, isRead, category }: Filter = {},
  { keepsMarked }: ListOptions = {},
): Messages {
  const inbox = useInbox();
  const list = useMemo(
    () => listMessages(inbox, { view, isRead, category }, { keepsMarked }),
    [inbox, view, isRead, category, keepsMarked],
  );
  useEffect(() => list.open(), [list]);
  const snapshot = useSyncExternalStore(list.subscribe, list.snapshot, list.snapshot);
  const { reload, loadMore } = list;
  return { ...snapshot, reload, loadMore, mark: inbox.mark, markAllRead: inbox.markAllRead };
}
