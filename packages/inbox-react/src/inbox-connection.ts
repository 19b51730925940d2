import { createClient, type Fetch, StakError } from '@stak/client';
import * as limits from './limits.ts';
import {
  applyMark,
  type Counts,
  countsAfter,
  type Filter,
  isInSpan,
  type Mark,
  type Message,
  type Span,
} from './message.ts';

/** Which inbox of which user to show, and how to reach the server. */
export type Settings = {
  baseUrl: string;
  token: string | (() => string | Promise<string>); // a function is called again when a token is refused
  tenant: string;
  inbox: string;
  user?: string; // "me" with an end user's token; required with an account's key
  fetch?: Fetch;
};

/**
 * The state of the connection. A lost connection is retried; `refused` is final: the token, the tenant or the inbox is
 * wrong.
 */
export type ConnectionState = 'connecting' | 'live' | 'lost' | 'refused';
export type Snapshot = {
  readonly counts: Counts | undefined;
  readonly connection: ConnectionState;
  readonly error: string | undefined; // of the last call, as text
};

export type Change =
  | { kind: 'message'; message: Message }
  | { kind: 'gone'; id: string }
  | { kind: 'each'; change: (message: Message) => Message }
  | { kind: 'stale' }; // another client changed something: read again

type Page = { data: Message[]; next_cursor: string | null };

export type InboxConnection = {
  snapshot(): Snapshot;
  subscribe(listener: () => void): () => void;
  onChange(listener: (change: Change) => void): () => void;
  open(): () => void;
  readPage(filter: Filter, limit: number, cursor?: string): Promise<Page>;
  mark(message: Message, mark: Mark): Promise<void>;
  markAllRead(span?: Span): Promise<void>;
  markAllSeen(): Promise<void>;
};

const nowInSeconds = (): number => Math.floor(Date.now() / 1000);
export const wordsOf = (error: unknown): string =>
  error instanceof StakError ? error.detail : error instanceof Error ? error.message : String(error);
// Redacted or expired: there is nothing to restore.
const isGone = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'inbox.message_not_found';
const isFinal = (error: unknown): boolean =>
  error instanceof StakError && [401, 403, 404].includes(error.status);

// Connects to one user's inbox: its counts, its events, and the user's actions.
export function connectInbox({
  baseUrl,
  token,
  tenant,
  inbox,
  user = 'me',
  fetch: send = (url, init) => fetch(url, init),
}: Settings): InboxConnection {
  const mailbox = { tenant_id: tenant, inbox_key: inbox, uid: user };
  const listeners = new Set<() => void>();
  const watchers = new Set<(change: Change) => void>();
  let state: Snapshot = { counts: undefined, connection: 'connecting', error: undefined };
  let marks = 0; // in flight
  let settling = 0;
  let round = 0;
  let lastEventId: string | undefined;

  const set = (part: Partial<Snapshot>) => {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  };
  const tell = (change: Change) => {
    for (const watcher of watchers) watcher(change);
  };

  // After a reconnection, failed reads can be repeated, and the last error is cleared.
  const takeConnection = (connection: ConnectionState) => {
    const isBack = state.connection === 'lost' && connection === 'live';
    set({ connection, ...(isBack && { error: undefined }) });
    if (isBack) tell({ kind: 'stale' });
  };

  const { inbox: api } = createClient({
    baseUrl,
    ...tokenSettings(token),
    fetch: watchStream(send, takeConnection),
  });

  const takeCounts = (counts: Counts) => {
    const isNews = JSON.stringify(counts) !== JSON.stringify(state.counts);
    if (isNews) set({ counts });
    return isNews;
  };

  // While marks are in flight, the counts are computed here, because the server's may or may not include them. After
  // the last one the server's are read, and read again if an event came in between.
  const settle = async () => {
    const mine = ++round;
    settling++;
    try {
      const { data } = await api.counts(mailbox);
      if (marks === 0 && mine === round) takeCounts(data);
    } catch {
      // The stream starts with the counts when it is connected again.
    } finally {
      settling--;
    }
  };

  const carryOut = async (work: () => Promise<unknown>, undo: (error: unknown) => void) => {
    marks++;
    try {
      await work();
      if (state.error !== undefined) set({ error: undefined });
    } catch (error) {
      undo(error);
      set({ error: wordsOf(error) });
    } finally {
      marks--;
      if (marks === 0) void settle();
    }
  };

  const takeEvent = (event: string, data: unknown) => {
    if (event === 'message') tell({ kind: 'message', message: data as Message });
    else if (event === 'redaction') tell({ kind: 'gone', id: (data as { id: string }).id });
    else if (event === 'reset') tell({ kind: 'stale' });
    else if (event === 'counts') {
      if (marks > 0) return;
      if (settling > 0) void settle();
      // The event says that counts changed, but not which message another device has changed.
      else if (takeCounts(data as Counts)) tell({ kind: 'stale' });
    }
  };

  const follow = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        for await (const { id, event, data } of api.stream(mailbox, { signal, lastEventId })) {
          lastEventId = id ?? lastEventId;
          takeEvent(event, data);
        }
      } catch (error) {
        if (signal.aborted) return;
        set({
          connection: isFinal(error) ? 'refused' : 'lost',
          ...(isFinal(error) && { error: wordsOf(error) }),
        });
        if (isFinal(error)) return;
      }
      await rest(signal);
    }
  };

  return {
    snapshot: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onChange(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    open() {
      const stop = new AbortController();
      // A user who opens their own inbox becomes a member; with a read-only token this has no effect.
      if (user === 'me') void api.join(mailbox).catch(() => {});
      void follow(stop.signal);
      return () => stop.abort();
    },
    async readPage({ view = 'inbox', isRead, category }, limit, cursor) {
      const { data } = await api.feed({
        ...mailbox,
        limit,
        ...(cursor !== undefined && { cursor }),
        ...(category !== undefined && { category }),
        ...(isRead !== undefined && { read: isRead ? 'true' : 'false' }),
        ...(view === 'archived' && { archived: 'true' }),
        ...(view === 'snoozed' && { snoozed: 'true' }),
      });
      return data;
    },
    async mark(before, mark) {
      const now = nowInSeconds();
      const after = applyMark(before, mark, now);
      tell({ kind: 'message', message: after });
      if (state.counts) set({ counts: countsAfter(state.counts, before, after, now) });
      await carryOut(
        async () => {
          const { data } = await sendMark(mark, before.id);
          tell({ kind: 'message', message: data });
        },
        error => tell(isGone(error) ? { kind: 'gone', id: before.id } : { kind: 'message', message: before }),
      );
    },
    async markAllRead(span = {}) {
      const now = nowInSeconds();
      tell({
        kind: 'each',
        change: one => (isInSpan(one, span) ? applyMark(one, { kind: 'read' }, now) : one),
      });
      await carryOut(
        () => api.readMany({ ...mailbox, body: span }),
        () => {},
      );
      tell({ kind: 'stale' });
    },
    async markAllSeen() {
      tell({ kind: 'each', change: one => ({ ...one, seen: true }) });
      await carryOut(
        () => api.seeMany({ ...mailbox, body: {} }),
        () => tell({ kind: 'stale' }),
      );
    },
  };

  function sendMark(mark: Mark, id: string) {
    const one = { ...mailbox, id };
    switch (mark.kind) {
      case 'read':
        return api.markRead(one);
      case 'unread':
        return api.markUnread(one);
      case 'snooze':
        return api.snooze({ ...one, body: { until: mark.until } });
      default:
        return api[mark.kind](one);
    }
  }
}

// The client reconnects a broken stream by itself; this reports it.
function watchStream(send: Fetch, report: (connection: ConnectionState) => void): Fetch {
  return async (url, init) => {
    if (!new Headers(init.headers).get('accept')?.includes('event-stream')) return send(url, init);
    try {
      const response = await send(url, init);
      report(response.ok ? 'live' : 'lost');
      return response;
    } catch (error) {
      if (!init.signal?.aborted) report('lost');
      throw error;
    }
  };
}

function tokenSettings(token: Settings['token']) {
  if (typeof token === 'string') return { token };
  let current: string | undefined;
  return {
    token: async () => {
      current ??= await token();
      return current;
    },
    onUnauthorized: async () => {
      current = await token();
      return true;
    },
  };
}

const rest = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(resolve, limits.restMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
