import { createHash } from 'node:crypto';
import type { Service } from './deps.ts';
import { type FeedFilter, readPage } from './feed.ts';
import * as limits from './limits.ts';
import { openMailbox } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import type { ShownMessage } from './schema.ts';

// A page of a feed, ready to be sent. The items are JSON.
export type Page = { items: string; tag: string; before?: string };

export async function openPage(
  service: Service,
  user: UserPlace,
  filter: FeedFilter,
  range: { limit: number; before?: string },
): Promise<Page> {
  const box = await openMailbox(service, user);
  const question = JSON.stringify([filter, range]);
  const known = service.pages.find(box, question);
  if (known) return known;
  const { items, before } = await readPage(service, box, filter, range);
  const page = { items: JSON.stringify(items), tag: tagOf(items, before !== undefined), before };
  if (page.items.length <= limits.pageChars) service.pages.keep(box, question, page);
  return page;
}

// Texts never change, so a page is told by its messages and their marks.
export function tagOf(items: readonly ShownMessage[], hasMore: boolean): string {
  let marks = hasMore ? 'more' : 'end';
  for (const one of items)
    marks += `${one.id}${one.read}${one.seen}${one.archived}${one.readat}${one.snoozed_until}`;
  return createHash('sha256').update(marks).digest('hex').slice(0, 32);
}
