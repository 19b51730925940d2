import type { Mount } from '@stak/http';

export const booksPath = '/demo/books';

// The shop's bookkeeping: a destination that exists as soon as the server runs, so that the first webhook is delivered
// without starting anything else. It accepts everything and stores nothing.
export function mountBooks(mount: Mount): void {
  const unguarded = 'it accepts everything and stores nothing';
  mount({ method: 'post', path: booksPath, unguarded }, c => c.text('booked', 200));
}
