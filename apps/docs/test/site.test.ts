import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';
import { searchPages } from '../src/browser/search.ts';
import { searchOptions } from '../src/browser/search-options.ts';
import { linksOf, renderPage } from '../src/render.ts';
import { makeSite, type SiteFile } from '../src/site.ts';

const docs = join(import.meta.dirname, '../../../docs');
const repository = 'https://code.example/stak';

describe('the documentation', () => {
  let files: Map<string, SiteFile>;
  let pages: [path: string, html: string][];
  const search = (text: string): string[] => {
    const index = MiniSearch.loadJSON(String(files.get('search.json')), searchOptions);
    return searchPages(index, text).map(({ url }) => String(url).slice('/docs/'.length));
  };
  beforeAll(async () => {
    files = await makeSite(docs, repository);
    pages = [...files].filter(([path]) => path.endsWith('.html')) as [string, string][];
  });

  it('has a page for every file, listed in the contents', () => {
    const sources = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter(name =>
      name.endsWith('.md'),
    );
    const home = String(files.get('index.html'));
    for (const source of sources) {
      const path = source.replaceAll('\\', '/').replace(/\.md$/, '').toLowerCase();
      expect([...files.keys()]).toContain(`${path}.html`);
      expect(home).toContain(`href="/docs/${path}"`);
    }
  });

  it('links to existing pages and headings', () => {
    const anchors = new Map(
      pages.map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(one => one[1]))]),
    );
    const broken: string[] = [];
    for (const [path, html] of pages)
      for (const [, href] of html.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        const [file = '', hash] = href!.replace(/^\/docs\//, '').split('#');
        if (/^(?:https?:|\/console\/)/.test(href!) || href === '/docs/api' || href === '/docs/') continue;
        const target = href!.startsWith('#') ? path : files.has(file) ? file : `${file}.html`;
        if (!files.has(target)) broken.push(`${path}: ${href}`);
        else if (hash && !anchors.get(target)?.has(hash)) broken.push(`${path}: ${href}`);
      }
    expect(broken).toEqual([]);
  });

  it('links to the reference and the console from every page, also on narrow screens', () => {
    for (const [path, html] of pages)
      for (const href of ['/docs/api', '/console/'])
        expect(html.split(`<a href="${href}">`).length - 1, path).toBeGreaterThanOrEqual(2);
  });

  it('complies with its content security policy', () => {
    for (const [path, html] of pages) {
      expect(html, path).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?! src="\/docs\/)/);
      expect(html, path).not.toMatch(/<(?:img|link|script)[^>]+(?:src|href)="https?:/);
    }
  });

  it('can be searched without a server', () => {
    expect(search('quikstart')[0]).toBe('guides/quickstart'); // with a typo
    expect(search('qqqqqqqqq')).toEqual([]);
    expect(search('how do I')).toEqual([]);
  });

  // Questions of people who see Stak for the first time, and the sections that answer them.
  it.each([
    ['verify webhook signature', 'guides/verify-a-signature'],
    ['how do I verify a signature in python', 'guides/verify-a-signature'],
    ['hmac php', 'guides/verify-a-signature'],
    ['check stripe signature', 'guides/webhooks#6-signatures'],
    ['retry delivery webhook', 'guides/retries'],
    ['how long are deliveries retried', 'guides/retries'],
    ['webhook retry schedule', 'guides/retries'],
    ['idempotency', 'guides/idempotency'],
    ['duplicate requests', 'guides/idempotency'],
    ['pagination', 'guides/pagination'],
    ['next_cursor', 'guides/pagination'],
    ['rate limit', 'reference/http#rate-limits'],
    ['SSO', 'guides/accounts#single-sign-on'],
    ['2fa', 'guides/accounts#a-second-factor'],
    ['forgot password', 'guides/accounts#a-forgotten-password'],
    ['invite a user to the portal', 'guides/portal#invitations'],
    ['embed the portal in an iframe', 'guides/portal#in-a-frame'],
    ['restore a backup', 'guides/backup-and-restore'],
    ['kubernetes', 'guides/deploy-on-kubernetes'],
  ])('answers “%s” at the first or second result', (question, answer) => {
    const [first = '', second = ''] = search(question);
    expect([first, second].map(url => (answer.includes('#') ? url : url.split('#')[0]))).toContain(answer);
  });

  it('shows designs and decisions after the pages that say what to do', () => {
    const kinds = search('webhook delivery').map(url => /^(?:guides|reference)\//.test(url));
    expect(kinds).toContain(false);
    expect(kinds).toEqual(kinds.toSorted((a, b) => Number(b) - Number(a)));
  });
});

describe('a page', () => {
  const page = (markdown: string) => ({ source: 'guides/a.md', path: 'guides/a', title: 'A', markdown });
  const known = { ...page(''), source: 'reference/errors.md', path: 'reference/errors' };
  const render = (markdown: string) =>
    renderPage(page(markdown), linksOf(page(markdown), new Map([[known.source, known]]), repository));

  it('shows raw HTML instead of rendering it', () => {
    const { html } = render('# A\n\n<script>alert(1)</script>\n\nText with <img src=x onerror=alert(1)>.');
    expect(html).not.toContain('<script>');
    expect(html).not.toContain('<img');
  });

  it('links to other pages, and to the repository for everything else', () => {
    const { html } = render(
      '[e](../reference/errors.md#a) [c](../../services/x/README.md) [o](https://o.example/)',
    );
    expect(html).toContain('href="/docs/reference/errors#a"');
    expect(html).toContain(`href="${repository}/blob/main/services/x/README.md"`);
    expect(html).toContain('href="https://o.example/"');
  });

  it('gives headings unique ids', () => {
    expect(render('# A\n\n## Same\n\n## Same').headings.map(one => one.id)).toEqual(['a', 'same', 'same-1']);
  });
});
