import type { Api } from '@stak/http';

export const booksPath = '/demo/books';

// The shop's bookkeeping: a destination that is there as soon as the server is, so that the first webhook somebody
// sends is delivered without starting anything else. It takes everything and keeps nothing.
export function mountBooks(app: Api['app']): void {
  app.post(booksPath, c => c.text('booked', 200));
}
