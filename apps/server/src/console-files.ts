import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Api, transportSecurity } from '@stak/http';
import { mountDemoSignIn } from './demo/sign-in.ts';
import { mountReference } from './reference/page.ts';

// In the package the pages are beside the bundle.
const [packedFolder, builtFolder] = ['./console', '../../console/dist'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];
const pagesFolder = existsSync(packedFolder) ? packedFolder : builtFolder;
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
// The components write their sizes into style attributes; nothing else comes from elsewhere than here.
const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

type File = { body: Uint8Array<ArrayBuffer>; zipped: Uint8Array<ArrayBuffer>; type: string; isPage: boolean };

export type ConsoleSettings = {
  folder?: string; // of the pages, as they were built
  demoFolder?: string; // the data folder with a demo to sign in to
  isHttps?: boolean; // whether browsers reach us by https, here or at a proxy
};

// The built pages of the console. Paths are the console's own: any path that is not a file serves the page.
export function mountConsole(app: Api['app'], settings: ConsoleSettings = {}): void {
  const { folder = pagesFolder, demoFolder, isHttps = false } = settings;
  const secured = transportSecurity({ isHttps });
  // Only what exists is kept, so that no stranger can fill it.
  const files = new Map<string, File>();
  const read = async (path: string): Promise<File | undefined> => {
    const file = files.get(path) ?? (await load(folder, path));
    if (file) files.set(path, file);
    return file;
  };

  mountReference(app, { isHttps });
  app.get('/', c => c.body(null, 302, { Location: '/console/', ...secured }));
  if (demoFolder !== undefined) mountDemoSignIn(app, demoFolder);
  app.get('/console/*', async c => {
    const path = normalize(c.req.path.slice('/console/'.length));
    const isAsset = extname(path) in types && !path.startsWith('..') && !path.includes('\0');
    const file = await read(isAsset ? path : 'index.html');
    if (!file)
      return c.text(
        isAsset ? 'There is no such file.' : 'The console is not built: npm start does.',
        404,
        secured,
      );
    const isZipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
    return c.body(isZipped ? file.zipped : file.body, 200, {
      ...secured,
      'Content-Type': file.type,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': file.isPage ? 'no-cache' : 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
      ...(file.isPage && { 'Content-Security-Policy': pagePolicy }),
    });
  });
}

async function load(folder: string, path: string): Promise<File | undefined> {
  const full = join(folder, path);
  if (!full.startsWith(folder + sep)) return undefined;
  const body = await readFile(full).catch(() => undefined);
  if (!body) return undefined;
  const zipped = await promisify(gzip)(body);
  const type = types[extname(path)]!;
  return {
    body: new Uint8Array(body),
    zipped: new Uint8Array(zipped),
    type,
    isPage: extname(path) === '.html',
  };
}
