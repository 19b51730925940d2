import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
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

type Bytes = Uint8Array<ArrayBuffer>;
type File = { body: Bytes; encoded: Readonly<Record<Encoding, Bytes>>; type: string; isPage: boolean };

// Smallest first: a browser gets the first one that it accepts.
const encodings = ['br', 'gzip'] as const;
type Encoding = (typeof encodings)[number];
// A tenth smaller than gzip. The next steps up are a few percent smaller and take seconds.
const brotliQuality = 9;

// The named encodings of the header that are not refused by a weight of 0.
const accepted = (header: string, name: Encoding): boolean =>
  header
    .split(',')
    .map(one => one.trim().split(/\s*;\s*q=/))
    .some(([coding, weight = '1']) => coding === name && Number(weight) > 0);
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
      const header = c.req.header('accept-encoding') ?? '';
      const encoding = encodings.find(name => accepted(header, name));
      return c.body(encoding ? file.encoded[encoding] : file.body, page ? 200 : 404, {
        ...always,
        'Content-Type': file.type,
        'Cache-Control': file.isPage || !isVersioned ? 'no-cache' : 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
        ...(encoding && { 'Content-Encoding': encoding }),
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
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(body, { params }),
    promisify(gzip)(body),
  ]);
  return {
    body: new Uint8Array(body),
    encoded: { br: new Uint8Array(br), gzip: new Uint8Array(zipped) },
    type: types[extname(path)]!,
    isPage: extname(path) === '.html',
  };
}
