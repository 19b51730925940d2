import { type Bell, type Clock, createBell } from '@stak/kit';
import { type Place, placeText, type UserPlace, userText } from './places.ts';

// Who of this process listens to which inbox. It carries no messages, only that there is something new: the
// listener reads what, so a change that is told twice or out of order does no harm.
export type Hub = {
  listen(user: UserPlace): { bell: Bell; close(): void };
  ringUser(user: UserPlace): void;
  ringEveryone(place: Place): void;
  ringAll(): void;
  listeners(): number;
  readonly wanted: Bell; // rung when somebody begins to listen
};

export function createHub(clock: Clock): Hub {
  const bells = new Map<string, Set<Bell>>();
  const wanted = createBell(clock);
  let count = 0;

  const ring = (key: string) => {
    for (const bell of bells.get(key) ?? []) bell.ring();
  };

  return {
    listen(user) {
      const bell = createBell(clock);
      const keys = [userText(user), placeText(user)];
      for (const key of keys) bells.set(key, (bells.get(key) ?? new Set()).add(bell));
      count += 1;
      wanted.ring();
      return {
        bell,
        close() {
          count -= 1;
          for (const key of keys) {
            const set = bells.get(key);
            set?.delete(bell);
            if (set?.size === 0) bells.delete(key);
          }
        },
      };
    },
    ringUser: user => ring(userText(user)),
    ringEveryone: place => ring(placeText(place)),
    ringAll() {
      for (const set of bells.values()) for (const bell of set) bell.ring();
    },
    listeners: () => count,
    wanted,
  };
}
