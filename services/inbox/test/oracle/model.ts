import { timeOf } from '@stak/kit';

// What an inbox is, in plain lists: no counters, no marks over ranges, no expiry but by looking at the clock.

export type Policy = 'all' | 'none' | { last: number };
type Flags = { read: boolean; seen: boolean; archived: boolean; snoozedUntil?: number };
export type Sent = {
  id: string;
  category?: string;
  body: string;
  expiredat: number;
  recipients?: readonly string[]; // of everyone if absent
  redacted: boolean;
  members?: number; // when it was sent to everyone
};
export type ShownMessage = { id: string; read: boolean; seen: boolean; archived: boolean };
export type Numbers = { total: number; unread: number; unseen: number };

type Copy = { sent: Sent; flags: Flags };
type User = { copies: Copy[] };

export class Model {
  readonly sent = new Map<string, Sent>();
  readonly #publicOnes: Sent[] = []; // in the order they were committed
  readonly #users = new Map<string, User>();
  readonly #policy: Policy;
  readonly #now: () => number;

  constructor(policy: Policy, now: () => number) {
    this.#policy = policy;
    this.#now = now;
  }

  members = (): string[] => [...this.#users.keys()];

  // A user who is not a member has the past messages that the policy would give them if they joined now.
  #userOf(uid: string): User {
    const found = this.#users.get(uid);
    if (found) return found;
    const live = this.#publicOnes.filter(one => this.#isLive(one));
    const given =
      this.#policy === 'all' ? live : this.#policy === 'none' ? [] : live.slice(-this.#policy.last);
    return { copies: given.map(sent => ({ sent, flags: fresh() })) };
  }

  join(uid: string): User {
    const user = this.#userOf(uid);
    this.#users.set(uid, user);
    return user;
  }

  // A user who changes something has joined.
  #change(uid: string, change: (user: User) => boolean): void {
    const user = this.#userOf(uid);
    if (change(user)) this.#users.set(uid, user);
  }

  deliver(sent: Sent, uid: string): void {
    this.join(uid).copies.push({ sent, flags: fresh() });
  }

  broadcast(sent: Sent): void {
    this.#publicOnes.push(sent);
    sent.members = this.#users.size;
    for (const user of this.#users.values()) user.copies.push({ sent, flags: fresh() });
  }

  redact(id: string): void {
    const sent = this.sent.get(id);
    if (sent) sent.redacted = true;
  }

  #isLive = (one: Sent): boolean => !one.redacted && one.expiredat * 1000 > this.#now();
  #isSnoozed = ({ flags }: Copy): boolean =>
    flags.snoozedUntil !== undefined && flags.snoozedUntil * 1000 > this.#now();
  #live = (user: User): Copy[] => user.copies.filter(copy => this.#isLive(copy.sent));
  #inside = (user: User): Copy[] =>
    this.#live(user).filter(copy => !copy.flags.archived && !this.#isSnoozed(copy));

  find = (uid: string, id: string): Copy | undefined =>
    this.#live(this.#userOf(uid)).find(copy => copy.sent.id === id);

  // All of them at once: together they make a member of the user, or not.
  mark(uid: string, ids: readonly string[], kind: string, until?: number): void {
    this.#change(uid, user => {
      const copies = this.#live(user).filter(copy => ids.includes(copy.sent.id));
      return copies.map(copy => this.#markCopy(copy, kind, until)).includes(true);
    });
  }

  #markCopy({ flags }: Copy, kind: string, until?: number): boolean {
    const before = JSON.stringify({ ...flags, snoozedUntil: flags.snoozedUntil ?? null });
    if (kind !== 'seen' && kind !== 'unarchive') flags.snoozedUntil = until;
    if (kind === 'read') Object.assign(flags, { read: true, seen: true });
    if (kind === 'unread') Object.assign(flags, { read: false, seen: true });
    if (kind === 'seen') flags.seen = true;
    if (kind === 'archive') Object.assign(flags, { archived: true, seen: true });
    if (kind === 'unarchive') Object.assign(flags, { archived: false, seen: true });
    if (kind === 'snooze') Object.assign(flags, { read: false, seen: true, archived: false });
    return before !== JSON.stringify({ ...flags, snoozedUntil: flags.snoozedUntil ?? null });
  }

  markAll(
    uid: string,
    as: 'read' | 'seen',
    { since, as_of, category }: { since?: number; as_of?: number; category?: string },
  ): void {
    this.#change(uid, user => {
      let isChanged = false;
      for (const { sent, flags } of this.#inside(user)) {
        const second = Math.floor(timeOf(sent.id)! / 1000);
        if (since !== undefined && second < since) continue;
        if (as_of !== undefined && second > as_of) continue;
        if (category !== undefined && sent.category !== category) continue;
        isChanged ||= as === 'read' ? !flags.read : !flags.seen;
        flags.seen = true;
        if (as === 'read') flags.read = true;
      }
      return isChanged;
    });
  }

  feed(uid: string, { archived, snoozed }: { archived: boolean; snoozed: boolean }): ShownMessage[] {
    return this.#live(this.#userOf(uid))
      .filter(copy => copy.flags.archived === archived && this.#isSnoozed(copy) === snoozed)
      .map(({ sent: { id }, flags: { read, seen } }) => ({ id, read, seen, archived }))
      .sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  counts(uid: string): Numbers & { categories: Record<string, Numbers> } {
    const inside = this.#inside(this.#userOf(uid));
    const categories: Record<string, Numbers> = {};
    for (const { sent } of inside)
      if (sent.category !== undefined)
        categories[sent.category] = numbersOf(inside.filter(copy => copy.sent.category === sent.category));
    return { ...numbersOf(inside), categories };
  }

  // What is to be stored for a user: their own messages, `*` for all of them.
  storedCounts(uid: string): Record<string, { published: number; read: number }> {
    const user = this.#users.get(uid);
    if (!user) return {};
    const own = this.#inside(user).filter(copy => copy.sent.recipients !== undefined);
    const stored: Record<string, { published: number; read: number }> = {};
    for (const key of ['*', ...new Set(own.flatMap(copy => copy.sent.category ?? []))]) {
      const { total, unread } = numbersOf(own.filter(({ sent }) => key === '*' || sent.category === key));
      stored[key] = { published: total, read: total - unread };
    }
    return stored;
  }

  // What is to be stored for everyone, at a moment when it is written.
  publicCounts(): Record<string, number> {
    const live = this.#publicOnes.filter(one => this.#isLive(one));
    const counts = new Map([['*', live.length]]);
    for (const { category } of live)
      if (category !== undefined) counts.set(category, (counts.get(category) ?? 0) + 1);
    return Object.fromEntries(counts);
  }

  // Counts how many have read each send that is still there.
  readers(): Map<string, number> {
    const readers = new Map<string, number>();
    for (const sent of this.sent.values()) {
      if (!this.#isLive(sent)) continue;
      const copies = [...this.#users.values()].flatMap(user =>
        user.copies.filter(copy => copy.sent === sent),
      );
      readers.set(sent.id, copies.filter(copy => copy.flags.read).length);
    }
    return readers;
  }
}

const numbersOf = (copies: readonly Copy[]): Numbers => ({
  total: copies.length,
  unread: copies.filter(copy => !copy.flags.read).length,
  unseen: copies.filter(copy => !copy.flags.seen).length,
});

const fresh = (): Flags => ({ read: false, seen: false, archived: false });
