import { normalize } from 'node:path';
import { type Api, transportSecurity } from '@stak/http';
import { versionText } from '../config/version.ts';
import { mountDemoSignIn } from './demo-sign-in.ts';
import { builtPages, createPageFiles } from './page-files.ts';
import { mountReference } from './reference/page.ts';

const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";
// The components set sizes in style attributes; everything else is loaded from here only.
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

export type ConsoleSettings = {
  folder?: string; // of the built pages
  docsFolder?: string; // of the built documentation
  demoFolder?: string; // the data folder with a demo to sign in to
  isHttps?: boolean; // whether browsers reach us over https, here or at a proxy
  environment?: 'development' | 'production'; // shown in the console
};

// Serves the built pages of the console and the documentation. Paths below /console that are not files serve the
// console's page.
export function mountConsole(api: Pick<Api, 'app' | 'mount'>, settings: ConsoleSettings = {}): void {
  const { mount } = api;
  const show = (path: `/${string}`) => ({ method: 'get', path, unguarded: 'everybody may read it' }) as const;
  const { demoFolder, isHttps = false, environment = 'development' } = settings;
  const headers = transportSecurity({ isHttps });
  const files = createPageFiles(settings.folder ?? builtPages('console'));
  const docs = createPageFiles(settings.docsFolder ?? builtPages('docs'));

  mountReference(mount, { isHttps });
  mount(show('/'), c => c.body(null, 302, { Location: '/console/', ...headers }));
  if (demoFolder !== undefined) mountDemoSignIn(api, demoFolder);
  mount(show('/console/server.json'), c =>
    c.json({ environment, version: versionText }, 200, { ...headers, 'Cache-Control': 'no-cache' }),
  );
  mount(show('/console/*'), async c => {
    const path = normalize(c.req.path.slice('/console/'.length));
    return files.isAsset(path)
      ? files.answer(c, path, { policy, headers, missing: 'File not found.' })
      : files.answer(c, 'index.html', {
          policy,
          headers,
          missing: 'The console is not built: npm start does.',
        });
  });

  mount(show('/docs'), c => c.body(null, 302, { Location: '/docs/', ...headers }));
  mount(show('/docs/*'), async c => {
    const path = c.req.path.slice('/docs/'.length) || 'index';
    return docs.answer(c, docs.isAsset(path) ? path : `${path}.html`, {
      policy: docsPolicy,
      headers,
      missing: 'The documentation is not built: npm start does.',
      missingPage: '404.html',
      isVersioned: false,
    });
  });
}
