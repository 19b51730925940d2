import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { ApiDocument } from './openapi.ts';

type Operation = NonNullable<NonNullable<ApiDocument['paths']>[string]['get']>;
type Entry = { method: string; path: string; operation: Operation };
type Markup = ReturnType<typeof html>;

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

const style = `
:root{color-scheme:light dark;--line:light-dark(#ddd,#444);--soft:light-dark(#f5f5f5,#222)}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem;text-transform:capitalize}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer}code,pre{font:13px/1.5 ui-monospace,monospace}
pre{background:var(--soft);padding:.6rem;overflow:auto;border-radius:4px}
.method{display:inline-block;width:4rem;font-weight:600}.note{opacity:.7}
td,th{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
nav a{margin-right:1rem}`;

// The page has no script and loads nothing: it reads the same without a network.
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function renderDocument(document: ApiDocument): string {
  const groups = groupByTag(entriesOf(document));
  const { title, version, description } = document.info;
  const schemas = Object.entries(document.components?.schemas ?? {});
  return `<!doctype html>${html`<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${raw(style)}</style></head>
<body><h1>${title} <span class="note">${version}</span></h1>
<p>${description ?? ''}</p>
<nav>${[...groups.keys()].map(name => html`<a href="#${name}">${name}</a>`)}<a href="#schemas">schemas</a>
<a href="openapi.json">openapi.json</a></nav>
${[...groups].map(([name, entries]) => html`<h2 id="${name}">${name}</h2>${entries.map(renderEntry)}`)}
<h2 id="schemas">schemas</h2>
${schemas.map(([name, schema]) => html`<details id="schema-${name}"><summary><code>${name}</code></summary>${renderJson(schema)}</details>`)}
</body></html>`}`;
}

function groupByTag(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const tag = entry.operation.tags?.[0] ?? 'other';
    groups.set(tag, [...(groups.get(tag) ?? []), entry]);
  }
  return groups;
}

const entriesOf = (document: ApiDocument): Entry[] =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap(method => {
      const operation = item[method];
      return operation ? [{ method, path, operation }] : [];
    }),
  );

function renderEntry({ method, path, operation }: Entry): Markup {
  return html`<details id="${operation.operationId}">
<summary><code class="method">${method.toUpperCase()}</code><code>${path}</code> ${operation.summary}</summary>
<p>${operation.description ?? ''}</p>
<p class="note">For: ${callers(operation)}</p>
${renderParameters(operation)}${renderBody(operation)}${renderResponses(operation)}
</details>`;
}

function callers(operation: Operation): string {
  const auth: unknown = operation['x-auth'];
  const scope: unknown = operation['x-scope'];
  const endUserScope: unknown = operation['x-end-user-scope'];
  const ofEndUsers = endUserScope === undefined ? '' : `; end users: ${endUserScope}`;
  return scope === undefined ? `${auth}` : `${auth}, scope ${scope}${ofEndUsers}`;
}

function renderParameters({ parameters = [] }: Operation): Markup | string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(one =>
    'name' in one
      ? html`<tr><td><code>${one.name}</code></td><td>${one.in}${one.required ? '' : ', optional'}</td>
<td>${one.description ?? ''} <code>${JSON.stringify(one.schema ?? {})}</code></td></tr>`
      : '',
  );
  return html`<h4>Parameters</h4><table>${rows}</table>`;
}

function renderBody({ requestBody }: Operation): Markup | string {
  if (!requestBody || !('content' in requestBody)) return '';
  const types = Object.entries<{ schema?: unknown }>(requestBody.content);
  return html`<h4>Body</h4>${types.map(([type, { schema }]) => html`<p><code>${type}</code></p>${renderJson(schema)}`)}`;
}

function renderResponses({ responses = {} }: Operation): Markup {
  const rows = Object.entries(responses).map(([status, response]) => {
    const [type, media] = Object.entries<{ schema?: unknown }>(response.content ?? {})[0] ?? [];
    const isProblem = type?.includes('problem');
    return html`<tr><th>${status}</th><td>${response.description}
${media && !isProblem ? renderJson(media.schema) : ''}</td></tr>`;
  });
  return html`<h4>Answers</h4><table>${rows}</table>`;
}

const renderJson = (value: unknown): Markup => html`<pre>${JSON.stringify(value, null, 2)}</pre>`;
