import { existsSync } from 'node:fs';
import { normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, transportSecurity } from '@stak/http';
import { mountDemoSignIn } from './demo/sign-in.ts';
import { createPageFiles } from './page-files.ts';
import { mountReference } from './reference/page.ts';

// In the package the pages are beside the bundle.
const [packedFolder, builtFolder] = ['./console', '../../console/dist'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];
const pagesFolder = existsSync(packedFolder) ? packedFolder : builtFolder;
// The components write their sizes into style attributes; nothing else comes from elsewhere than here.
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

export type ConsoleSettings = {
  folder?: string; // of the pages, as they were built
  demoFolder?: string; // the data folder with a demo to sign in to
  isHttps?: boolean; // whether browsers reach us by https, here or at a proxy
};

// The built pages of the console. Paths are the console's own: any path that is not a file serves the page.
export function mountConsole(app: Api['app'], settings: ConsoleSettings = {}): void {
  const { folder = pagesFolder, demoFolder, isHttps = false } = settings;
  const headers = transportSecurity({ isHttps });
  const files = createPageFiles(folder);

  mountReference(app, { isHttps });
  app.get('/', c => c.body(null, 302, { Location: '/console/', ...headers }));
  if (demoFolder !== undefined) mountDemoSignIn(app, demoFolder);
  app.get('/console/*', async c => {
    const path = normalize(c.req.path.slice('/console/'.length));
    return files.isAsset(path)
      ? files.answer(c, path, { policy, headers, missing: 'There is no such file.' })
      : files.answer(c, 'index.html', {
          policy,
          headers,
          missing: 'The console is not built: npm start does.',
        });
  });
}
