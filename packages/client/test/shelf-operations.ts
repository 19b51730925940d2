// Generated from the OpenAPI document by scripts/generate.ts: change the routes instead.

export type BooksAddData = { id: string; title: string; version: number };

export type FieldError = {
  in: 'body' | 'query' | 'path' | 'header';
  pointer: string;
  code: string;
  detail: string;
};

export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  request_id: string;
  errors?: Array<FieldError>;
  details?: unknown;
};

export type Readiness = {
  status: 'ready' | 'not_ready' | 'stopping';
  checks: { [name: string]: 'ok' | 'degraded' | 'failed' };
  event_loop?: { p50_ms: number; p99_ms: number; max_ms: number };
};

export type ApiTypes = {
  /** Add a book. For: account, scope write. */
  'books.add': { args: { body: { title: string; tags?: Array<{ name: string }> } }; data: BooksAddData };
  /** Burn a book. For: session, scope admin. */
  'books.burn': { args: { id: string }; data: undefined };
  /** Edit a book. For: account, scope write. */
  'books.edit': {
    args: { id: string; body: { title: string; tags?: Array<{ name: string }> } };
    data: BooksAddData;
    mustMatch: true;
  };
  /** List books. For: account, scope read. */
  'books.list': {
    args: { limit?: number; cursor?: string; tag?: string };
    data: { data: Array<BooksAddData>; next_cursor: string | null };
  };
  /** Read a book. For: account, scope read. */
  'books.read': { args: { id: string }; data: BooksAddData };
  /** Fail. For: public. */
  'failures.make': { args: { how: string }; data: undefined };
  /** Follow a feed. For: account, scope read. */
  'feeds.follow': { args: { name: string }; event: { text: string } };
  /** Keep a file. For: account, scope write. */
  'files.put': {
    args: {
      name: string;
      label?: string | Array<string>;
      'x-note'?: string;
      body: string | Uint8Array<ArrayBuffer> | Blob;
    };
    data: Uint8Array;
  };
  /** A signed call. For: provider. */
  'hooks.take': {
    args: { id: string; body: string | Uint8Array<ArrayBuffer> | Blob };
    data: { bytes: number; subject: string };
  };
  /** Who am I. For: user, scope read. */
  'me.read': { args: Record<never, never>; data: { kind: string } };
};

export const operations = {
  'books.add': { method: 'POST', path: '/v1/books', body: 'json', isKeyed: true },
  'books.burn': { method: 'DELETE', path: '/v1/books/{id}' },
  'books.edit': { method: 'PUT', path: '/v1/books/{id}', body: 'json' },
  'books.list': { method: 'GET', path: '/v1/books' },
  'books.read': { method: 'GET', path: '/v1/books/{id}' },
  'failures.make': { method: 'POST', path: '/v1/fail/{how}', isPublic: true },
  'feeds.follow': { method: 'GET', path: '/v1/feeds/{name}', isStream: true },
  'files.put': { method: 'PUT', path: '/v1/files/{name}', body: 'raw', headers: ['x-note'] },
  'hooks.take': { method: 'POST', path: '/hooks/{id}', body: 'raw', isPublic: true },
  'me.read': { method: 'GET', path: '/v1/me' },
} as const;
