import { tableErrors } from '@stak/table';
import { type Principal, principalKey } from '../principal.ts';
import { cursorRefused, type Page, toPage } from './page.ts';

export type PageRequest = { limit: number; cursor?: string; caller: string };

// A page of a list as a response. Its cursor is bound to the caller.
export async function answerPage<Item, Shown>(
  principal: Principal,
  { limit, cursor }: { limit: number; cursor?: string },
  read: (page: PageRequest) => Promise<{ items: Item[]; cursor?: string }>,
  show: (item: Item) => Shown,
): Promise<Page<Shown>> {
  try {
    const page = await read({ limit, cursor, caller: principalKey(principal) });
    return toPage({ items: page.items.map(show), cursor: page.cursor });
  } catch (error) {
    throw tableErrors.includes(error) && error.code === 'table.cursor_refused' ? cursorRefused(error) : error;
  }
}
