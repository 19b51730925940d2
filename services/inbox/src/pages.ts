import { createHash } from 'node:crypto';
import { nextChange } from './counts.ts';
import type { Service } from './deps.ts';
import { type FeedFilter, readPage } from './feed.ts';
import * as limits from './limits.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { type UserPlace, userText } from './places.ts';
import type { ShownMessage } from './schema.ts';

// Pages of feeds, ready to be sent. A page depends on the user's state, the messages to everyone, what was asked, and
// the time; every change of a message is a change of its user's state. So one that was sent before is sent again
// while those are the same: they are read each time, the messages are not.

export type Page = { items: string; tag: string; before?: string }; // the items are JSON
type Range = { limit: number; before?: string };
type Kept = { born: string; version: number; seq: number; untilMs: number; page: Page };

export type Pages = {
  find(box: Mailbox, question: string): Page | undefined;
  keep(box: Mailbox, question: string, page: Page): void;
};

export function createPages(mostChars: number = limits.pagesChars): Pages {
  const kept = new Map<string, Kept>(); // the longest unused first
  let chars = 0;
  const forget = (key: string) => {
    chars -= kept.get(key)?.page.items.length ?? 0;
    kept.delete(key);
  };
  const keyOf = ({ user }: Mailbox, question: string) => `${userText(user)} ${question}`;
  return {
    find(box, question) {
      const key = keyOf(box, question);
      const known = kept.get(key);
      if (!known) return undefined;
      const { state, broadcasts, nowMs } = box;
      const isSame =
        known.born === state.born &&
        known.version === state.version &&
        known.seq === broadcasts.seq &&
        nowMs < known.untilMs;
      kept.delete(key);
      if (isSame) kept.set(key, known);
      else chars -= known.page.items.length;
      return isSame ? known.page : undefined;
    },
    keep(box, question, page) {
      const { born, version } = box.state;
      if (born === undefined || page.items.length > limits.pageChars) return;
      const key = keyOf(box, question);
      forget(key);
      const untilMs = nextChange(box) ?? Number.POSITIVE_INFINITY;
      kept.set(key, { born, version, seq: box.broadcasts.seq, untilMs, page });
      chars += page.items.length;
      for (const oldest of kept.keys()) {
        if (chars <= mostChars) break;
        forget(oldest);
      }
    },
  };
}

export async function openPage(
  service: Service,
  user: UserPlace,
  filter: FeedFilter,
  range: Range,
): Promise<Page> {
  const box = await openMailbox(service, user);
  const question = JSON.stringify([filter, range]);
  const known = service.pages.find(box, question);
  if (known) return known;
  const { items, before } = await readPage(service, box, filter, range);
  const page = { items: JSON.stringify(items), tag: tagOf(items, before !== undefined), before };
  service.pages.keep(box, question, page);
  return page;
}

// Texts never change, so a page is told by its messages and their marks.
export function tagOf(items: readonly ShownMessage[], hasMore: boolean): string {
  let marks = hasMore ? 'more' : 'end';
  for (const one of items)
    marks += `${one.id}${one.read}${one.seen}${one.archived}${one.readat}${one.snoozed_until}`;
  return createHash('sha256').update(marks).digest('hex').slice(0, 32);
}
