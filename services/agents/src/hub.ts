import type { ServerEvent } from '@stak/http';
import { type Bell, type Clock, createBell } from '@stak/kit';
import * as limits from './limits.ts';

export type LiveEvent = Required<Pick<ServerEvent, 'event' | 'data'>>;
type Address = { tenant_id: string; conversation_id: string; message_id: string };

// The events of an answer that is being made, kept while it is: whoever comes back gets those it missed.
export type Live = {
  readonly events: readonly LiveEvent[];
  readonly isOver: boolean;
  push(event: LiveEvent): void;
  end(): void;
  // Until there is more, or it is over.
  next(mostMs: number, signal: AbortSignal): Promise<void>;
};

export type Hub = {
  // One answer may be to several messages.
  open(addresses: readonly Address[]): Live;
  find(address: Address): Live | undefined;
  // Somebody waits for the outcome of a message, whoever brings it about.
  listen(address: Address): { wait(mostMs: number, signal: AbortSignal): Promise<void>; close(): void };
  settle(address: Address): void;
  settleAll(): void;
  listeners(): number;
  readonly wanted: Bell; // rung when somebody begins to listen
};

const textOf = ({ tenant_id, conversation_id, message_id }: Address) =>
  `${tenant_id}#${conversation_id}#${message_id}`;

export function createHub(clock: Clock): Hub {
  const lives = new Map<string, Live>();
  const listeners = new Map<string, Set<ReturnType<typeof createBell>>>();
  const wanted = createBell(clock);

  const ring = (key: string) => {
    for (const bell of listeners.get(key) ?? []) bell.ring();
  };

  return {
    open(addresses) {
      const keys = addresses.map(textOf);
      const live = createLive(clock, () => {
        for (const key of keys) if (lives.get(key) === live) lives.delete(key);
        for (const key of keys) ring(key);
      });
      for (const key of keys) {
        lives.set(key, live);
        ring(key);
      }
      return live;
    },
    find: address => lives.get(textOf(address)),
    listen(address) {
      const key = textOf(address);
      const bell = createBell(clock);
      listeners.set(key, (listeners.get(key) ?? new Set()).add(bell));
      wanted.ring();
      return {
        wait: bell.wait,
        close() {
          const set = listeners.get(key);
          set?.delete(bell);
          if (set?.size === 0) listeners.delete(key);
        },
      };
    },
    settle: address => ring(textOf(address)),
    settleAll() {
      for (const key of listeners.keys()) ring(key);
    },
    listeners: () => listeners.size,
    wanted,
  };
}

function createLive(clock: Clock, onEnd: () => void): Live {
  const events: LiveEvent[] = [];
  const bells = new Set<ReturnType<typeof createBell>>();
  let isOver = false;
  const ring = () => {
    for (const bell of bells) bell.ring();
  };
  return {
    events,
    get isOver() {
      return isOver;
    },
    push(event) {
      if (isOver || events.length >= limits.eventsKept) return;
      events.push(event);
      ring();
    },
    end() {
      if (isOver) return;
      isOver = true;
      onEnd();
      ring();
    },
    async next(mostMs, signal) {
      const seen = events.length;
      const bell = createBell(clock);
      bells.add(bell);
      try {
        if (!isOver && events.length === seen) await bell.wait(mostMs, signal);
      } finally {
        bells.delete(bell);
      }
    },
  };
}
