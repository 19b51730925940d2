import type { Api } from '@stak/http';

export const booksPath = '/demo/books';

// The shop's bookkeeping: a destination that exists as soon as the server runs, so that the first webhook is delivered
// without starting anything else. It accepts everything and stores nothing.
export function mountBooks(app: Api['app']): void {
  app.post(booksPath, c => c.text('booked', 200));
}
