import { createHash } from 'node:crypto';

// The few HTML pages that the API serves itself. They have no scripts and look like the console.

const style = `
:root { color-scheme: light dark; --text: #1f2937; --back: #ffffff; --line: #dee2e6; --strong: #087f5b; }
@media (prefers-color-scheme: dark) { :root { --text: #e5e7eb; --back: #242424; --line: #424242; --strong: #63e6be; } }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 16px; box-sizing: border-box;
  font: 14px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); }
main { width: min(400px, 100%); justify-self: center; overflow-wrap: anywhere; }
.name { margin: 0 0 16px; text-align: center; font-size: 20px; font-weight: 700; }
section { border: 1px solid var(--line); border-radius: 8px; padding: 32px; }
h1 { margin: 0 0 16px; font-size: 26px; line-height: 1.35; }
p { margin: 0 0 16px; }
a { color: var(--strong); }
button { font: inherit; padding: 8px 18px; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** Allows the page's own style sheet, and no other resource. */
export const pageHeaders = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
};

/** Returns a page with the server's name. The body is HTML: the caller escapes any text from others in it. */
export const htmlPage = (
  name: string,
  { title, body }: { title: string; body: string },
): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><main><p class="name">${escapeHtml(name)}</p><section><h1>${escapeHtml(title)}</h1>${body}</section></main></body>
</html>
`;

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
