import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityCss } from '@stak/kit/identity';
import { build } from 'esbuild';
import MiniSearch from 'minisearch';
import { searchOptions } from './browser/search-options.ts';
import { type Page, readSections, type Section } from './pages.ts';
import { escapeHtml, linksOf, type Rendered, renderPage } from './render.ts';

export type SiteFile = string | Uint8Array;

// Why things are as they are. The search shows what to do first.
const designSections: ReadonlySet<string> = new Set(['Design', 'Tables', 'Decisions']);

/** The whole site: the content of each file by its path. */
export async function makeSite(docs: string, repository: string): Promise<Map<string, SiteFile>> {
  const sections = readSections(docs);
  const designs = new Set(
    sections.filter(({ title }) => designSections.has(title)).flatMap(({ pages }) => pages),
  );
  const all = sections.flatMap(section => section.pages);
  const bySource = new Map(all.map(page => [page.source, page]));
  const files = new Map<string, SiteFile>();
  const index = new MiniSearch(searchOptions);
  for (const [at, page] of all.entries()) {
    const rendered = renderPage(page, linksOf(page, bySource, repository));
    const beside = { before: all[at - 1], after: all[at + 1] };
    files.set(`${page.path}.html`, pageHtml(page, rendered, sections, beside));
    for (const [number, { id, title, text }] of rendered.passages.entries())
      index.add({
        id: `${at}.${number}`,
        url: `/docs/${page.path}${id && `#${id}`}`,
        page: page.title,
        title,
        text,
        isDesign: designs.has(page),
      });
  }
  files.set('index.html', homeHtml(sections));
  files.set('404.html', missingHtml(sections));
  files.set('search.json', JSON.stringify(index));
  const ownCss = readFileSync(join(import.meta.dirname, 'browser/site.css'), 'utf8');
  files.set('site.css', identityCss() + ownCss);
  files.set('site.js', await bundle(join(import.meta.dirname, 'browser/site.ts')));
  for (const name of readdirSync(join(docs, 'images')))
    files.set(`images/${name}`, readFileSync(join(docs, 'images', name)));
  return files;
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'warning',
  });
  return outputFiles[0]!.text;
}

function layout(
  title: string,
  sections: readonly Section[],
  current: string | undefined,
  main: string,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/site.css">
<script src="/docs/site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="/docs/"><img src="/console/icon.svg" alt="" width="26" height="26">Stak docs</a>
<search><input type="search" id="search" class="search" placeholder="Search  /" aria-label="Search the documentation" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="results"><ul id="results" class="results" role="listbox" aria-label="Results" hidden></ul></search>
<a href="/docs/api">API reference</a>
<a href="/console/">Console</a>
</header>
<div class="page">
<nav aria-label="Documentation"><details open><summary>Contents</summary>
${sections.map(section => sectionHtml(section, current)).join('\n')}
<p class="elsewhere"><a href="/docs/api">API reference</a> <a href="/console/">Console</a></p>
</details></nav>
${main}
</div>
</body>
</html>
`;
}

function sectionHtml({ title, pages }: Section, current: string | undefined): string {
  const isOpen = pages.some(({ path }) => path === current) || !['Tables', 'Decisions'].includes(title);
  const items = pages.map(
    ({ path, title: name }) =>
      `<li><a href="/docs/${path}"${path === current ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a></li>`,
  );
  return `<details class="section"${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`;
}

type Beside = { before: Page | undefined; after: Page | undefined };

function pageHtml(
  page: Page,
  { html, headings }: Rendered,
  sections: readonly Section[],
  { before, after }: Beside,
): string {
  const inside = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const contents =
    inside.length < 2
      ? ''
      : `<aside aria-label="On this page"><p>On this page</p><ul>${inside
          .map(
            ({ id, text, depth }) =>
              `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
          )
          .join('')}</ul></aside>`;
  const link = (one: Page | undefined, label: string, rel: string) =>
    one
      ? `<a href="/docs/${one.path}" rel="${rel}"><small>${label}</small>${escapeHtml(one.title)}</a>`
      : '<span></span>';
  const steps = `<div class="steps">${link(before, 'Previous', 'prev')}${link(after, 'Next', 'next')}</div>`;
  return layout(
    `${page.title} · Stak`,
    sections,
    page.path,
    `<main id="content">\n${html}${steps}\n</main>\n${contents}`,
  );
}

function homeHtml(sections: readonly Section[]): string {
  const cards = sections
    .filter(({ title }) => !['Tables', 'Decisions'].includes(title))
    .map(
      ({ title, pages }) =>
        `<section class="card"><h2>${escapeHtml(title)}</h2><ul>${pages
          .map(({ path, title: name }) => `<li><a href="/docs/${path}">${escapeHtml(name)}</a></li>`)
          .join('')}</ul></section>`,
    );
  return layout(
    'Documentation · Stak',
    sections,
    undefined,
    `<main id="content" class="wide"><h1>Documentation</h1>
<p>Stak receives webhooks and delivers them, fills your users’ inboxes, keeps their tasks and holds their conversations with agents. Begin with the <a href="/docs/guides/quickstart">quickstart</a>, or open the <a href="/docs/api">API reference</a>.</p>
<div class="cards">${cards.join('')}</div></main>`,
  );
}

const missingHtml = (sections: readonly Section[]): string =>
  layout(
    'Page not found · Stak',
    sections,
    undefined,
    '<main id="content" class="wide"><h1>Page not found</h1><p>Search for it above, or go to <a href="/docs/">all pages</a>.</p></main>',
  );
