import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Mount, transportSecurity } from '@stak/http';

// The package is a plugin of another framework; we use one file of it: the reference as a self-contained script.
// docs/adr/0097-the-reference-is-scalars.md
// In the package of the server, a copy is beside the bundle.
const copiedScript = fileURLToPath(new URL('./scalar.js', import.meta.url));
const findScript = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference')), 'js/standalone.js');
const scriptFile = existsSync(copiedScript) ? copiedScript : findScript();
const version = '1.40.0'; // part of the URL, which browsers cache for a year
const scriptPath = `/docs/scalar-${version}.js`;

// A link back, accessible colours, and the height of our header, which the reference needs for its layout.
const style = `
:root { --scalar-custom-header-height: 3.5rem; }
body { margin: 0; }
html, body, #reference { overflow-x: clip; } /* links beside headings, and its messages, hang over the edge of a phone */
.scalar-reference-intro-clients { display: none; } /* each example has its own choice of languages */
body.light-mode {
  --scalar-color-2: #555c61; --scalar-color-3: #61686d;
  --scalar-color-green: #07694a; --scalar-color-blue: #0060a0; --scalar-color-yellow: #735700;
  --scalar-color-orange: #9a4300; --scalar-color-red: #b80f0f; --scalar-color-purple: #5f3dc4;
}
body.dark-mode {
  --scalar-color-2: #b4b8bc; --scalar-color-3: #a3a8ad;
  --scalar-color-green: #4fd18b; --scalar-color-blue: #6bbcf0; --scalar-color-red: #ff8f8a;
}
.stak-header {
  position: sticky; z-index: 20; top: 0; box-sizing: border-box;
  display: flex; gap: 1.25rem; align-items: center; height: 3.5rem; padding: 0 1.25rem;
  border-bottom: 1px solid var(--scalar-border-color);
  background: var(--scalar-background-1); color: var(--scalar-color-1);
  font: 1rem system-ui, sans-serif;
}
.stak-header a { color: inherit; text-decoration: none; white-space: nowrap; }
.stak-header a:first-child {
  display: flex; gap: 0.6rem; align-items: center; margin-right: auto; font-weight: 700;
}
`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Stak</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<nav class="stak-header" aria-label="Stak">
<a href="/docs/"><img src="/console/icon.svg" alt="" width="26" height="26">Stak docs</a>
<a href="/docs/guides/quickstart">Quickstart</a>
<a href="/console/">Console</a>
</nav>
<div id="reference"></div>
<noscript>The API is described in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="${scriptPath}"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

// Examples are in the languages that the guides speak: curl, TypeScript, Python and Go.
const hiddenTargets = [
  ...['c', 'clojure', 'csharp', 'dart', 'fsharp', 'http', 'java', 'kotlin', 'node', 'objc', 'ocaml'],
  ...['php', 'powershell', 'r', 'ruby', 'rust', 'swift'],
];

// Nothing is loaded from other servers: no fonts, no proxy, no analytics.
const start = `Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'account' },
  hiddenClients: Object.fromEntries(${JSON.stringify(hiddenTargets)}.map(name => [name, true])),
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
`;

// Corrects wrong and missing ARIA attributes of the reference as it is rendered.
const repair = `
const repairs = {
  'button[aria-selected]': one => {
    one.toggleAttribute('aria-current', one.getAttribute('aria-selected') === 'true');
    one.removeAttribute('aria-selected');
  },
  'aside[role=navigation]': one => one.removeAttribute('role'),
  'button[role=search]': one => one.removeAttribute('role'),
  'button.code-copy:not([aria-label])': one => one.setAttribute('aria-label', 'Copy'),
  'button.show-more[aria-label]': one => one.removeAttribute('aria-label'),
  '.scalar-card[role=region]': one => one.setAttribute('role', 'group'),
  'ul.endpoints:not([tabindex])': one => one.setAttribute('tabindex', '0'),
  'ul > div:not([role]) > li:not([role])': one => {
    one.parentElement.setAttribute('role', 'listitem');
    one.setAttribute('role', 'presentation');
  },
};
const repairAll = () => {
  for (const [selector, mend] of Object.entries(repairs))
    for (const one of document.querySelectorAll(selector)) mend(one);
};
let isWaiting = false;
new MutationObserver(() => {
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(() => {
    isWaiting = false;
    repairAll();
  });
}).observe(document.body, { childList: true, subtree: true, attributeFilter: ['aria-selected'] });
`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'", // it writes its styles into the page
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the API reference at /docs/api. Its script has three megabytes; it is compressed once, for all readers. */
export function mountReference(mount: Mount, { isHttps = false }: { isHttps?: boolean } = {}): void {
  const headers = {
    ...transportSecurity({ isHttps }),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  const script = { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' };
  const show = (path: `/${string}`) => ({ method: 'get', path, unguarded: 'everybody may read it' }) as const;
  mount(show('/docs/api'), c => c.html(page, 200, { ...headers, 'Content-Security-Policy': policy }));
  mount(show('/docs/start.js'), c => c.body(start + repair, 200, { ...script, 'Cache-Control': 'no-cache' }));
  let zipped: Promise<Uint8Array<ArrayBuffer>> | undefined;
  const zip = async () => new Uint8Array(await promisify(gzip)(await readFile(scriptFile)));
  mount(show(scriptPath), async c => {
    const cached = {
      ...script,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
    };
    if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? ''))
      return c.body(Readable.toWeb(createReadStream(scriptFile)) as ReadableStream, 200, cached);
    zipped ??= zip();
    return c.body(await zipped, 200, { ...cached, 'Content-Encoding': 'gzip' });
  });
}
