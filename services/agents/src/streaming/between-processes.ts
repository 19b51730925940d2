import type { Peers } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Live, LiveEvent } from './live-answers.ts';

// Sends the events of answers from the process that makes them to the processes where clients follow them. A process
// announces what it follows; the process that makes the answer sends it all events so far, and then each new one. If a
// message is lost, the copy ends, and the follower reads the whole answer from the table.

type Message =
  | { kind: 'follow' | 'unfollow'; keys: readonly string[] }
  | {
      kind: 'events';
      key: string;
      live: string;
      isResumed?: boolean;
      from: number;
      events: readonly LiveEvent[];
      isOver: boolean;
    };

export type AnswerSharingDeps = {
  peers: Peers;
  find(key: string): Live | undefined; // answers made here
  mirror(id: string, isResumed: boolean, onEnd: () => void): Live;
  notify(key: string): void; // wakes listeners in this process
};

const topic = 'agents answers';

export function createAnswerSharing({ peers, find, mirror, notify }: AnswerSharingDeps) {
  const followed = new Map<string, number>(); // in this process: key, number of followers
  const copies = new Map<string, { live: Live; from: string }>();
  const followers = new Map<string, Map<string, { live?: string; sent: number }>>(); // in other processes: key, process
  const send = (message: Message, to?: string) => peers.send(topic, message, to);

  // Sends the events that the process does not have yet.
  function share(key: string, live: Live, to: string, state: { live?: string; sent: number }): void {
    if (state.live !== live.id) Object.assign(state, { live: live.id, sent: 0 });
    do {
      const events = live.events.slice(state.sent, state.sent + limits.eventsTogether);
      const from = state.sent;
      state.sent += events.length;
      const isOver = live.isOver && state.sent === live.events.length;
      const { id, isResumed } = live;
      send({ kind: 'events', key, live: id, isResumed, from, events, isOver }, to);
    } while (state.sent < live.events.length);
  }

  function noteFollower(key: string, from: string): void {
    if (!followers.has(key) && followers.size >= limits.followedElsewhere) return;
    const states = followers.get(key) ?? new Map();
    followers.set(key, states);
    if (!states.has(from)) states.set(from, { sent: 0 });
    const live = find(key);
    if (live) share(key, live, from, states.get(from));
  }

  function forgetFollower(key: string, from: string): void {
    const states = followers.get(key);
    states?.delete(from);
    if (states?.size === 0) followers.delete(key);
  }

  function receiveEvents(
    { key, live: id, isResumed = false, from: at, events, isOver }: Message & { kind: 'events' },
    from: string,
  ) {
    if (!followed.has(key)) return;
    let copy = copies.get(key)?.live;
    if (copy?.id !== id) {
      if (at !== 0) return;
      copy?.end();
      const begun = mirror(id, isResumed, () => notify(key));
      copies.set(key, { live: begun, from });
      copy = begun;
      notify(key);
    }
    if (at === copy.events.length) for (const event of events) copy.push(event);
    if (isOver || at + events.length !== copy.events.length) copy.end();
  }

  peers.onMessage(topic, (body, from) => {
    const message = body as Message;
    if (message.kind === 'follow') for (const key of message.keys) noteFollower(key, from);
    else if (message.kind === 'unfollow') for (const key of message.keys) forgetFollower(key, from);
    else if (message.kind === 'events') receiveEvents(message, from);
  });
  peers.onJoined(id => {
    if (followed.size > 0) send({ kind: 'follow', keys: [...followed.keys()] }, id);
  });
  peers.onGone(id => {
    for (const key of [...followers.keys()]) forgetFollower(key, id);
    for (const { live, from } of copies.values()) if (from === id) live.end();
  });

  return {
    find(key: string): Live | undefined {
      const copy = copies.get(key)?.live;
      // A copy that has ended without a reply has nothing for new followers: the result is in the table.
      return copy && (!copy.isOver || copy.events.at(-1)?.event === 'reply') ? copy : undefined;
    },
    follow(key: string): () => void {
      const before = followed.get(key) ?? 0;
      followed.set(key, before + 1);
      if (before === 0) send({ kind: 'follow', keys: [key] });
      return () => {
        const left = followed.get(key)! - 1;
        if (left > 0) return void followed.set(key, left);
        followed.delete(key);
        copies.delete(key);
        send({ kind: 'unfollow', keys: [key] });
      };
    },
    push(keys: readonly string[], live: Live): void {
      if (followers.size === 0) return;
      for (const key of keys) for (const [to, state] of followers.get(key) ?? []) share(key, live, to, state);
    },
  };
}
