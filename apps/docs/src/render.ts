import { posix } from 'node:path';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { Marked, type Token, type Tokens } from 'marked';
import type { Page } from './pages.ts';

const languages = {
  bash,
  go,
  http,
  ini,
  java,
  javascript,
  json,
  php,
  python,
  ruby,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['sh', 'console'], { languageName: 'bash' });
hljs.registerAliases(['ts', 'tsx'], { languageName: 'typescript' });

// As they are called in the switch of a sample.
const languageNames: Readonly<Record<string, string>> = {
  sh: 'curl',
  bash: 'Shell',
  ts: 'TypeScript',
  python: 'Python',
  go: 'Go',
  ruby: 'Ruby',
  php: 'PHP',
  java: 'Java',
};

type Heading = { id: string; text: string; depth: number };
type Passage = { id: string; title: string; text: string }; // the text below one heading
export type Rendered = { html: string; headings: Heading[]; passages: Passage[] };
export type LinkTarget = (href: string) => string;

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/<[^>]*>|&[a-z]+;|[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s+/g, '-');

/** The target of a link on the site: another page, or a file in the repository. */
export const linksOf =
  (page: Page, pages: ReadonlyMap<string, Page>, repository: string): LinkTarget =>
  href => {
    if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href;
    const [file = '', hash] = href.split('#');
    const target = posix.normalize(posix.join(posix.dirname(page.source), file));
    const tail = hash === undefined ? '' : `#${hash}`;
    const known = pages.get(target);
    if (known) return `/docs/${known.path}${tail}`;
    if (/\.(?:png|svg)$/.test(target) && !target.startsWith('..')) return `/docs/${target}`;
    return `${repository}/blob/main/${posix.normalize(posix.join('docs', target))}${tail}`;
  };

/** Renders a page as HTML, with its headings and its text for the search index. Raw HTML is escaped. */
export function renderPage({ markdown }: Page, linkTo: LinkTarget): Rendered {
  const headings: Heading[] = [];
  const passages: Passage[] = [];
  const used = new Map<string, number>();
  const plain = (tokens: readonly Tokens.Generic[] | undefined): string =>
    (tokens ?? []).map(one => (one.tokens ? plain(one.tokens) : String(one.text ?? one.raw ?? ''))).join('');
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const text = plain(tokens);
        const slug = slugOf(text);
        const count = used.get(slug) ?? 0;
        used.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        headings.push({ id, text, depth });
        const inner = this.parser.parseInline(tokens);
        return depth === 1
          ? `<h1 id="${id}">${inner}</h1>\n`
          : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const to = linkTo(href);
        const isOutside = /^https?:/.test(to);
        return `<a href="${escapeHtml(to)}"${isOutside ? ' rel="noopener noreferrer"' : ''}>${this.parser.parseInline(tokens)}</a>`;
      },
      image: ({ href, text }) =>
        `<img src="${escapeHtml(linkTo(href))}" alt="${escapeHtml(text)}" loading="lazy">`,
      code: ({ text, lang = '' }) => codeBlock(text, lang.split(/\s/)[0]!),
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map(cell => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('');
        // If the first column has no heading, its cells are row headers.
        const head = token.header.map((cell, at) =>
          plain(cell.tokens) === '' ? '<td></td>' : cells([token.header[at]!], 'th'),
        );
        const body = token.rows.map(row => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body}</tbody></table></div>\n`;
      },
      html: ({ text }) => (/^<!--/.test(text) ? '' : escapeHtml(text)),
    },
  });
  const tokens = marked.lexer(markdown);
  const html = inTabs(tokens)
    .map(group => {
      const inner = marked.parser(group);
      return group.length > 1 && group.every(({ type }) => type === 'code')
        ? `<div class="samples">\n${inner}</div>\n`
        : inner;
    })
    .join('');
  let at = -1;
  for (const token of tokens) {
    if (token.type === 'heading') {
      at += 1;
      const { id, text } = headings[at]!;
      passages.push({ id: at === 0 ? '' : id, title: text, text: '' });
    } else if (passages.length > 0) passages.at(-1)!.text += ` ${textOf(token)}`;
  }
  return { html, headings, passages };
}

// Code blocks in different languages with nothing in between are the same sample: the reader chooses the language.
function inTabs(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = [];
  for (const token of tokens) {
    const last = groups.at(-1);
    const isSample = token.type === 'code' && last?.[0]?.type === 'code';
    const isOther = isSample && last.every(one => (one as Tokens.Code).lang !== (token as Tokens.Code).lang);
    if (token.type === 'space' && last?.[0]?.type === 'code') continue; // between blocks
    if (isOther) last.push(token);
    else groups.push([token]);
  }
  return groups;
}

const textOf = (token: Tokens.Generic): string =>
  String(token.raw ?? '')
    .replace(/```\w*|[`*_|#>[\]]|\]\([^)]*\)|-{3,}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

function codeBlock(text: string, language: string): string {
  const inner = hljs.getLanguage(language) ? hljs.highlight(text, { language }).value : escapeHtml(text);
  const name = languageNames[language] ?? language;
  return `<div class="code"${name && ` data-language="${escapeHtml(name)}"`}><pre tabindex="0"><code>${inner}</code></pre></div>\n`;
}
