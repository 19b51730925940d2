import type { ServerEvent } from '@stak/http';
import {
  type Clock,
  createHub as createKeyedHub,
  type Ids,
  type Hub as KeyedHub,
  type Notifier,
  type Peers,
} from '@stak/kit';
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

// Many answers may begin, go on or end at the same moment: a hub of `kit` wakes a few listeners at a time.
export function createHub(clock: Clock, ids: Ids, peers?: Peers): Hub {
  const lives = new Map<string, Live>();
  const outcomes = createKeyedHub(clock); // by message
  const progress = createKeyedHub(clock); // by answer
  const sharing =
    peers && createAnswerSharing({ peers, find: key => lives.get(key), mirror, notify: outcomes.notify });

  // A copy of an answer that another process makes.
  function mirror(id: string, isResumed: boolean, onEnd: () => void): Live {
    return createLive(progress, id, { isResumed, onEnd });
  }

  return {
    open(addresses, { isResumed = false } = {}) {
      const keys = addresses.map(textOf);
      const live = createLive(progress, ids.next(), {
        isResumed,
        onPush: () => sharing?.push(keys, live),
        onEnd() {
          for (const key of keys) if (lives.get(key) === live) lives.delete(key);
          sharing?.push(keys, live);
          for (const key of keys) outcomes.notify(key);
        },
      });
      for (const key of keys) {
        lives.set(key, live);
        outcomes.notify(key);
      }
      sharing?.push(keys, live);
      return live;
    },
    find: address => lives.get(textOf(address)) ?? sharing?.find(textOf(address)),
    listen(address, { isFollowing = false } = {}) {
      const key = textOf(address);
      const unfollow = isFollowing ? sharing?.follow(key) : undefined;
      const { wait, close } = outcomes.subscribe([key]);
      return {
        wait,
        close() {
          close();
          unfollow?.();
        },
      };
    },
    settle: address => outcomes.notify(textOf(address)),
    settleAll: outcomes.notifyAll,
    listeners: outcomes.subscribers,
    wanted: outcomes.subscribed,
  };
}

type LiveOptions = { isResumed: boolean; onPush?(): void; onEnd(): void };

function createLive(progress: KeyedHub, id: string, { isResumed, onPush, onEnd }: LiveOptions): Live {
  const events: LiveEvent[] = [];
  let isOver = false;
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
      progress.notify(id);
    },
    end() {
      if (isOver) return;
      isOver = true;
      onEnd();
      progress.notify(id);
    },
    async next(mostMs, signal) {
      if (isOver) return;
      const subscriber = progress.subscribe([id]);
      try {
        await subscriber.wait(mostMs, signal);
      } finally {
        subscriber.close();
      }
    },
  };
}
