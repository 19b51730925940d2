import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page, Problem } from '../src/index.ts';
import { openShelf, type Shelf } from './shelf-service.ts';

async function fill(shelf: Shelf, count: number): Promise<void> {
  for (let i = 1; i <= count; i++)
    for (const owner of ['ann', 'bob'])
      shelf.books.set(`${owner}${i}`, { id: `${owner}${i}`, title: 'A', version: 1, owner: `usr_${owner}` });
}

const listOf = async (shelf: Shelf, query: string, as = 'ann') => {
  const response = await shelf.call(`/v1/books?${query}`, { as });
  return { status: response.status, page: (await response.json()) as Page<{ id: string }> & Problem };
};

describe('a list', () => {
  it('continues at its cursor', async () => {
    const shelf = openShelf();
    await fill(shelf, 7);
    const seen: string[] = [];
    let query = 'limit=3';
    for (;;) {
      const { page } = await listOf(shelf, query);
      seen.push(...page.data.map(one => one.id));
      if (page.next_cursor === null) break;
      query = `limit=3&cursor=${page.next_cursor}`;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7].map(i => `ann${i}`));
  });

  it('refuses the cursor of another caller or another list, in any encoding', async () => {
    const shelf = openShelf();
    await fill(shelf, 5);
    const { page } = await listOf(shelf, 'limit=2&tag=x');
    const cursor = page.next_cursor!;
    expect((await listOf(shelf, `limit=4&tag=x&cursor=${cursor}`)).status).toBe(200);
    for (const [query, as] of [
      [`tag=x&cursor=${cursor}`, 'bob'],
      [`tag=y&cursor=${cursor}`, 'ann'],
      [`cursor=${cursor}`, 'ann'],
    ] as const) {
      const { status, page: problem } = await listOf(shelf, query, as);
      expect([status, problem.code]).toEqual([400, 'http.cursor_refused']);
      expect(problem.errors?.[0]?.pointer).toBe('#/cursor');
    }
  });

  it('never fails on an invented cursor', async () => {
    const shelf = openShelf({ rateLimits: undefined });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), async text => {
        const { status } = await listOf(shelf, `cursor=${encodeURIComponent(text.toWellFormed())}`);
        expect(status).toBe(400);
      }),
      { numRuns: 100 },
    );
    expect((await listOf(shelf, `cursor=${'x'.repeat(5000)}`)).page.code).toBe('http.request_invalid');
  });
});

describe('a version', () => {
  const shelfWithBook = () => {
    const shelf = openShelf();
    shelf.books.set('b1', { id: 'b1', title: 'A', version: 3, owner: 'usr_ann' });
    return shelf;
  };
  const edit = (shelf: Shelf, ifMatch?: string) =>
    shelf.call('/v1/books/b1', {
      method: 'PUT',
      as: 'ann',
      send: { title: 'B' },
      headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch },
    });

  it('is required and matched, and the first of two edits wins', async () => {
    const shelf = shelfWithBook();
    expect((await edit(shelf)).status).toBe(428);
    const won = await edit(shelf, '"v3"');
    expect([won.status, won.headers.get('etag')]).toEqual([200, '"v4"']);
    const lost = await edit(shelf, '"v3"');
    expect([lost.status, ((await lost.json()) as Problem).code]).toEqual([412, 'http.version_mismatch']);
    expect((await edit(shelf, '*')).status).toBe(200);
  });

  it.each(['W/"v3"', 'v3', '""', '"v3", "v4"', '"v3" junk', '"vé"', '"v03"', '"v3.0"', '"vabc"'])(
    'is not %s',
    async ifMatch => {
      expect((await edit(shelfWithBook(), ifMatch)).status).toBe(412);
    },
  );

  it.each([
    ['"v3"', 304],
    ['W/"v3"', 304],
    ['"v2", "v3"', 304],
    ['*', 304],
    ['"v2"', 200],
    ['v3', 200],
  ])('that the caller has (%s) gets %i', async (tag, status) => {
    const response = await shelfWithBook().call('/v1/books/b1', {
      as: 'ann',
      headers: { 'If-None-Match': tag },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get('etag')).toBe('"v3"');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('ratelimit-limit')).toBe('600');
    if (status === 304) {
      expect(await response.text()).toBe('');
      expect(response.headers.get('content-type')).toBeNull();
    }
  });
});
