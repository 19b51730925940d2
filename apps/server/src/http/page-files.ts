import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Mount } from '@stak/http';

/** The folder of an app's built pages: in the package it is beside the bundle. */
export function builtPages(app: string): string {
  const apps = import.meta.url.endsWith('.ts') ? '../../..' : '../..';
  const [packed, built] = [`./${app}`, `${apps}/${app}/dist`].map(path =>
    fileURLToPath(new URL(path, import.meta.url)),
  ) as [string, string];
  return existsSync(packed) ? packed : built;
}

// The built files of a page, read once and cached, plain and compressed.

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.json': 'application/json',
};

// The context of a handler.
type PageContext = Parameters<Parameters<Mount>[1]>[0];

type File = { body: Uint8Array<ArrayBuffer>; zipped: Uint8Array<ArrayBuffer>; type: string; isPage: boolean };
type AnswerOptions = {
  policy: string;
  headers: Record<string, string>;
  missing: string; // the text if a file does not exist
  missingPage?: string; // a file to show instead
  isVersioned?: boolean; // whether the names of its files change with their content
};

export type PageFiles = {
  // Whether a path names a file, rather than a route of the page.
  isAsset(path: string): boolean;
  answer(c: PageContext, path: string, answering: AnswerOptions): Promise<Response>;
};

export function createPageFiles(folder: string): PageFiles {
  // Only existing files are cached, so that callers cannot fill it.
  const files = new Map<string, File>();
  const read = async (path: string): Promise<File | undefined> => {
    const file = files.get(path) ?? (await load(folder, path));
    if (file) files.set(path, file);
    return file;
  };
  return {
    isAsset: path => extname(path) in types && !normalize(path).startsWith('..') && !path.includes('\0'),
    async answer(c, path, { policy, headers, missing, missingPage, isVersioned = true }) {
      const always = { ...headers, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
      const page = await read(normalize(path));
      const file = page ?? (missingPage === undefined ? undefined : await read(missingPage));
      // During a deployment, another server may have the file already, so a 404 must not be cached.
      if (!file) return c.text(missing, 404, { ...always, 'Cache-Control': 'no-store' });
      const isZipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
      return c.body(isZipped ? file.zipped : file.body, page ? 200 : 404, {
        ...always,
        'Content-Type': file.type,
        'Cache-Control': file.isPage || !isVersioned ? 'no-cache' : 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        ...(isZipped && { 'Content-Encoding': 'gzip' }),
        ...(file.isPage && { 'Content-Security-Policy': policy }),
      });
    },
  };
}

async function load(folder: string, path: string): Promise<File | undefined> {
  const full = join(folder, path);
  if (!full.startsWith(folder + sep)) return undefined;
  const body = await readFile(full).catch(() => undefined);
  if (!body) return undefined;
  const zipped = await promisify(gzip)(body);
  return {
    body: new Uint8Array(body),
    zipped: new Uint8Array(zipped),
    type: types[extname(path)]!,
    isPage: extname(path) === '.html',
  };
}
