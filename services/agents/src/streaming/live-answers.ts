import type { ServerEvent } from '@stak/http';
import { type Clock, createNotifier, type Ids, type Notifier, type Peers } from '@stak/kit';
import * as limits from '../limits.ts';
import { createAnswerSharing } from './between-processes.ts';

export type LiveEvent = Required<Pick<ServerEvent, 'event' | 'data'>>;
type Address = { tenant_id: string; conversation_id: string; message_id: string };

// The events of an answer in progress, kept so that a client that reconnects gets those it missed.
export type Live = {
  readonly id: string;
  readonly isResumed: boolean; // starts with what happened before the pause
  readonly events: readonly LiveEvent[];
  readonly isOver: boolean;
  push(event: LiveEvent): void;
  end(): void;
  // Resolves when there are more events, or it is over.
  next(mostMs: number, signal: AbortSignal): Promise<void>;
};

export type Hub = {
  // One answer may be for several messages.
  open(addresses: readonly Address[], options?: { isResumed?: boolean }): Live;
  // Made here, or in another process and followed from here.
  find(address: Address): Live | undefined;
  // Waits for the outcome of a message, or follows its events, in whichever process they happen.
  listen(address: Address, options?: { isFollowing?: boolean }): Listening;
  settle(address: Address): void;
  settleAll(): void;
  listeners(): number;
  readonly wanted: Notifier; // notified when a client begins to listen
};

type Listening = { wait(mostMs: number, signal: AbortSignal): Promise<void>; close(): void };

const textOf = ({ tenant_id, conversation_id, message_id }: Address) =>
  `${tenant_id}#${conversation_id}#${message_id}`;

export function createHub(clock: Clock, ids: Ids, peers?: Peers): Hub {
  const lives = new Map<string, Live>();
  const listeners = new Map<string, Set<Notifier>>();
  const wanted = createNotifier(clock);

  const notify = (key: string) => {
    for (const notifier of listeners.get(key) ?? []) notifier.notify();
  };
  const sharing = peers && createAnswerSharing({ peers, find: key => lives.get(key), mirror, notify });

  // A copy of an answer that another process makes.
  function mirror(id: string, isResumed: boolean, onEnd: () => void): Live {
    return createLive(clock, id, { isResumed, onEnd });
  }

  return {
    open(addresses, { isResumed = false } = {}) {
      const keys = addresses.map(textOf);
      const live = createLive(clock, ids.next(), {
        isResumed,
        onPush: () => sharing?.push(keys, live),
        onEnd() {
          for (const key of keys) if (lives.get(key) === live) lives.delete(key);
          sharing?.push(keys, live);
          for (const key of keys) notify(key);
        },
      });
      for (const key of keys) {
        lives.set(key, live);
        notify(key);
      }
      sharing?.push(keys, live);
      return live;
    },
    find: address => lives.get(textOf(address)) ?? sharing?.find(textOf(address)),
    listen(address, { isFollowing = false } = {}) {
      const key = textOf(address);
      const notifier = createNotifier(clock);
      listeners.set(key, (listeners.get(key) ?? new Set()).add(notifier));
      const unfollow = isFollowing ? sharing?.follow(key) : undefined;
      wanted.notify();
      return {
        wait: notifier.wait,
        close() {
          const set = listeners.get(key);
          set?.delete(notifier);
          if (set?.size === 0) listeners.delete(key);
          unfollow?.();
        },
      };
    },
    settle: address => notify(textOf(address)),
    settleAll() {
      for (const key of listeners.keys()) notify(key);
    },
    listeners: () => listeners.size,
    wanted,
  };
}

type LiveOptions = { isResumed: boolean; onPush?(): void; onEnd(): void };

function createLive(clock: Clock, id: string, { isResumed, onPush, onEnd }: LiveOptions): Live {
  const events: LiveEvent[] = [];
  const notifiers = new Set<Notifier>();
  let isOver = false;
  const notifyAll = () => {
    for (const notifier of notifiers) notifier.notify();
  };
  return {
    id,
    isResumed,
    events,
    get isOver() {
      return isOver;
    },
    push(event) {
      if (isOver || events.length >= limits.eventsKept) return;
      events.push(event);
      onPush?.();
      notifyAll();
    },
    end() {
      if (isOver) return;
      isOver = true;
      onEnd();
      notifyAll();
    },
    async next(mostMs, signal) {
      const seen = events.length;
      const notifier = createNotifier(clock);
      notifiers.add(notifier);
      try {
        if (!isOver && events.length === seen) await notifier.wait(mostMs, signal);
      } finally {
        notifiers.delete(notifier);
      }
    },
  };
}
