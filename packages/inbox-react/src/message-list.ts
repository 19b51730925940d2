import { type InboxConnection, wordsOf } from './inbox-connection.ts';
import * as limits from './limits.ts';
import { type Filter, insertMessage, isShown, type Message } from './message.ts';

export type ListSnapshot = {
  readonly messages: readonly Message[];
  readonly isLoading: boolean; // true for the first page and for more, not for a refresh
  readonly hasMore: boolean;
  readonly error: string | undefined;
};

export type MessageList = {
  snapshot(): ListSnapshot;
  subscribe(listener: () => void): () => void;
  open(): () => void;
  reload(): Promise<void>;
  loadMore(): Promise<void>;
};

export type ListOptions = {
  keepsMarked?: boolean; // messages marked read or unread stay visible until the list is read again
};

// Loads the messages that match a filter, as many as were requested, and keeps them up to date.
export function listMessages(
  inbox: InboxConnection,
  filter: Filter,
  { keepsMarked = false }: ListOptions = {},
): MessageList {
  const listeners = new Set<() => void>();
  let state: ListSnapshot = { messages: [], isLoading: true, hasMore: false, error: undefined };
  let cursor: string | null = null;
  let round = 0;
  let isBusy = false;
  let isOvertaken = false; // something changed while a page was loading

  const set = (part: Partial<ListSnapshot>) => {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  };

  // The response is dropped if a later request was made.
  const load = async (limit: number, after: string | undefined) => {
    const mine = ++round;
    isBusy = true;
    isOvertaken = false;
    try {
      const page = await inbox.readPage(filter, limit, after);
      if (mine !== round) return;
      isBusy = false;
      cursor = page.next_cursor;
      const known = after === undefined ? [] : state.messages;
      const ids = new Set(known.map(one => one.id));
      const messages = [...known, ...page.data.filter(one => !ids.has(one.id))];
      set({ messages, isLoading: false, hasMore: cursor !== null, error: undefined });
      if (isOvertaken) await reload();
    } catch (error) {
      if (mine !== round) return;
      isBusy = false;
      set({ isLoading: false, error: wordsOf(error) });
    }
  };

  const reload = (): Promise<void> =>
    load(Math.min(limits.reloadMessages, Math.max(limits.pageMessages, state.messages.length)), undefined);

  const filterFor = ({ id }: Message): Filter =>
    keepsMarked && state.messages.some(message => message.id === id)
      ? { ...filter, isRead: undefined }
      : filter;

  const watch = () =>
    inbox.onChange(change => {
      const nowS = Math.floor(Date.now() / 1000);
      const { messages } = state;
      isOvertaken = isBusy;
      if (change.kind === 'stale') void reload();
      else if (change.kind === 'gone')
        set({ messages: messages.filter(message => message.id !== change.id) });
      else if (change.kind === 'each')
        set({ messages: messages.map(change.change).filter(one => isShown(one, filter, nowS)) });
      // Older messages than the last loaded page come with the next one.
      else if (!state.hasMore || messages.some(message => message.id <= change.message.id))
        set({ messages: insertMessage(messages, change.message, filterFor(change.message), nowS) });
    });

  return {
    snapshot: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    open() {
      const close = watch();
      void reload();
      return () => {
        round++;
        close();
      };
    },
    reload,
    loadMore: async () => {
      if (cursor === null || isBusy) return;
      set({ isLoading: true });
      await load(limits.pageMessages, cursor);
    },
  };
}
