import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createApi, createMemoryIdempotency, unguarded } from '@stak/http';
import { createLogger, systemClock } from '@stak/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPageFiles } from './page-files.ts';

const script = 'export const text = "of a page";\n'.repeat(500);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stak-page-files-'));
  await writeFile(join(folder, 'page.js'), script);
});
afterAll(() => rm(folder, { recursive: true }));

async function ask(encodings: string | undefined): Promise<Response> {
  const { app, mount } = createApi({
    info: { title: '', version: '' },
    endpoints: [],
    authenticate: async () => undefined,
    guards: unguarded,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    idempotency: createMemoryIdempotency({ clock: systemClock }),
  });
  const files = createPageFiles(folder);
  const show = { method: 'get', path: '/pages/*', unguarded: 'there is nothing to guard' } as const;
  mount(show, c => files.answer(c, 'page.js', { policy: '', headers: {}, missing: '' }));
  return app.request('/pages/page.js', {
    headers: encodings === undefined ? {} : { 'Accept-Encoding': encodings },
  });
}

describe('a file of a page', () => {
  it.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ])('is compressed for a browser that accepts %s', async (encodings, encoding, unzip) => {
    const answer = await ask(encodings);
    expect(answer.headers.get('Content-Encoding')).toBe(encoding);
    expect(answer.headers.get('Vary')).toContain('Accept-Encoding');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.length).toBeLessThan(script.length / 10);
    expect(unzip(bytes).toString()).toBe(script);
  });

  it.each([undefined, 'identity', 'broken', 'gzip;q=0'])(
    'is plain for one that accepts %s',
    async encodings => {
      const answer = await ask(encodings);
      expect(answer.headers.get('Content-Encoding')).toBeNull();
      expect(await answer.text()).toBe(script);
    },
  );
});
