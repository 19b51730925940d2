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

/** Names the inbox to show, its user, and how to reach the server. */
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
  const state = createState();
  const { inbox: api } = createClient({
    baseUrl,
    ...tokenSettings(token),
    fetch: watchStream(send, connection => takeConnection(state, connection)),
  });
  const counts = createCountSync(state, async () => (await api.counts(mailbox)).data);
  const follow = createFollow(state, counts, options => api.stream(mailbox, options));

  return {
    snapshot: state.snapshot,
    subscribe: state.subscribe,
    onChange: state.onChange,
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
      state.publish({ kind: 'message', message: after });
      counts.expect(before, after, now);
      await counts.carryOut(
        async () => {
          const { data } = await sendMark(mark, before.id);
          state.publish({ kind: 'message', message: data });
        },
        error =>
          state.publish(
            isGone(error) ? { kind: 'gone', id: before.id } : { kind: 'message', message: before },
          ),
      );
    },
    async markAllRead(span = {}) {
      const now = nowInSeconds();
      state.publish({
        kind: 'each',
        change: one => (isInSpan(one, span) ? applyMark(one, { kind: 'read' }, now) : one),
      });
      await counts.carryOut(
        () => api.readMany({ ...mailbox, body: span }),
        () => {},
      );
      state.publish({ kind: 'stale' });
    },
    async markAllSeen() {
      state.publish({ kind: 'each', change: one => ({ ...one, seen: true }) });
      await counts.carryOut(
        () => api.seeMany({ ...mailbox, body: {} }),
        () => state.publish({ kind: 'stale' }),
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

type State = ReturnType<typeof createState>;

// Components see a snapshot and the changes of messages, each with its listeners.
function createState() {
  const listeners = new Set<() => void>();
  const watchers = new Set<(change: Change) => void>();
  let snapshot: Snapshot = { counts: undefined, connection: 'connecting', error: undefined };
  return {
    snapshot: () => snapshot,
    set(part: Partial<Snapshot>): void {
      snapshot = { ...snapshot, ...part };
      for (const listener of listeners) listener();
    },
    publish(change: Change): void {
      for (const watcher of watchers) watcher(change);
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onChange(watcher: (change: Change) => void) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

// After a reconnection, failed reads can be repeated, and the last error is cleared.
function takeConnection(state: State, connection: ConnectionState): void {
  const isBack = state.snapshot().connection === 'lost' && connection === 'live';
  state.set({ connection, ...(isBack && { error: undefined }) });
  if (isBack) state.publish({ kind: 'stale' });
}

type CountSync = ReturnType<typeof createCountSync>;

// While marks are in flight, the counts are computed here, because the server's may or may not include them. After
// the last one the server's are read, and read again if an event came in between.
function createCountSync(state: State, readCounts: () => Promise<Counts>) {
  let marks = 0; // in flight
  let settling = 0;
  let round = 0;

  function take(counts: Counts): boolean {
    const isNews = JSON.stringify(counts) !== JSON.stringify(state.snapshot().counts);
    if (isNews) state.set({ counts });
    return isNews;
  }

  async function settle(): Promise<void> {
    const mine = ++round;
    settling++;
    try {
      const counts = await readCounts();
      if (marks === 0 && mine === round) take(counts);
    } catch {
      // The stream starts with the counts when it is connected again.
    } finally {
      settling--;
    }
  }

  return {
    expect(before: Message, after: Message, nowS: number): void {
      const { counts } = state.snapshot();
      if (counts) state.set({ counts: countsAfter(counts, before, after, nowS) });
    },
    // From the event stream.
    receive(counts: Counts): void {
      if (marks > 0) return;
      if (settling > 0) void settle();
      // The event says that counts changed, but not which message another device has changed.
      else if (take(counts)) state.publish({ kind: 'stale' });
    },
    async carryOut(work: () => Promise<unknown>, undo: (error: unknown) => void): Promise<void> {
      marks++;
      try {
        await work();
        if (state.snapshot().error !== undefined) state.set({ error: undefined });
      } catch (error) {
        undo(error);
        state.set({ error: wordsOf(error) });
      } finally {
        marks--;
        if (marks === 0) void settle();
      }
    },
  };
}

type OpenStream = (options: {
  signal: AbortSignal;
  lastEventId: string | undefined;
}) => AsyncIterable<{ id: string | undefined; event: string; data: unknown }>;

// Follows the event stream until the signal is aborted, or the server refuses for good.
function createFollow(state: State, counts: CountSync, openStream: OpenStream) {
  let lastEventId: string | undefined;

  function takeEvent(event: string, data: unknown): void {
    if (event === 'message') state.publish({ kind: 'message', message: data as Message });
    else if (event === 'redaction') state.publish({ kind: 'gone', id: (data as { id: string }).id });
    else if (event === 'reset') state.publish({ kind: 'stale' });
    else if (event === 'counts') counts.receive(data as Counts);
  }

  return async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        for await (const { id, event, data } of openStream({ signal, lastEventId })) {
          lastEventId = id ?? lastEventId;
          takeEvent(event, data);
        }
      } catch (error) {
        if (signal.aborted) return;
        state.set({
          connection: isFinal(error) ? 'refused' : 'lost',
          ...(isFinal(error) && { error: wordsOf(error) }),
        });
        if (isFinal(error)) return;
      }
      await rest(signal);
    }
  };
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
  let current: Promise<string> | undefined;
  // Calls at the same time share one token. If there was none to be had, the next call asks for it again.
  const renew = (): Promise<string> => {
    const next = (async () => token())();
    current = next;
    next.catch(() => {
      if (current === next) current = undefined;
    });
    return next;
  };
  return {
    token: () => current ?? renew(),
    onUnauthorized: async () => {
      await renew();
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
