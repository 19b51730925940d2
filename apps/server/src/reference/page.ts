import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type Api, transportSecurity } from '@stak/http';

// The package is a plugin of another framework; we use one file of it: the reference as a self-contained script.
// docs/adr/0097-the-reference-is-scalars.md
const scriptFile = join(
  dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference')),
  'js/standalone.js',
);
const version = '1.40.0'; // part of the URL, which browsers cache for a year
const scriptPath = `/docs/scalar-${version}.js`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Stak</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
</head>
<body>
<div id="reference"></div>
<noscript>The API is described in <a href="/openapi.json">openapi.json</a>.</noscript>
<script src="${scriptPath}"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

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
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
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

/** Serves the API reference at /docs/api. Its script is read from disk for each reader, and cached by their browser. */
export function mountReference(app: Api['app'], { isHttps = false }: { isHttps?: boolean } = {}): void {
  const headers = {
    ...transportSecurity({ isHttps }),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  const script = { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' };
  app.get('/docs/api', c => c.html(page, 200, { ...headers, 'Content-Security-Policy': policy }));
  app.get('/docs/start.js', c => c.body(start, 200, { ...script, 'Cache-Control': 'no-cache' }));
  app.get(scriptPath, c => {
    const isZipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
    const file = createReadStream(scriptFile);
    const body = Readable.toWeb(isZipped ? file.pipe(createGzip()) : file) as ReadableStream;
    return c.body(body, 200, {
      ...script,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    });
  });
}
