import MiniSearch, { type SearchResult } from 'minisearch';
import { searchPages } from './search.ts';
import { searchOptions } from './search-options.ts';

const input = document.querySelector<HTMLInputElement>('#search')!;
const list = document.querySelector<HTMLUListElement>('#results')!;
const shownMost = 8;
const excerptChars = 120;
let index: Promise<MiniSearch> | undefined;
let chosen = -1;

// Loaded with the first search, and then kept.
const load = (): Promise<MiniSearch> => {
  index ??= fetch('/docs/search.json')
    .then(answer => answer.text())
    .then(text => MiniSearch.loadJSON(text, searchOptions));
  index.catch(() => {
    index = undefined;
  });
  return index;
};

function excerptOf({ text, terms }: SearchResult): string {
  const lower = String(text).toLowerCase();
  const at = Math.max(
    0,
    Math.min(...terms.map(term => lower.indexOf(term)).filter(one => one >= 0), lower.length) - 30,
  );
  return String(text).slice(at === lower.length - 30 ? 0 : at, at + excerptChars);
}

function show(results: readonly SearchResult[]): void {
  chosen = -1;
  const items = results.slice(0, shownMost).map((result, at) => {
    const item = document.createElement('li');
    item.role = 'option';
    item.id = `result-${at}`;
    const link = document.createElement('a');
    link.href = String(result.url);
    link.tabIndex = -1;
    const title = document.createElement('strong');
    title.textContent =
      result.title === result.page ? String(result.page) : `${result.page}: ${result.title}`;
    const excerpt = document.createElement('span');
    excerpt.textContent = excerptOf(result);
    link.append(title, excerpt);
    item.append(link);
    return item;
  });
  if (items.length === 0 && input.value.trim().length > 1) {
    const none = document.createElement('li');
    none.role = 'option';
    none.ariaDisabled = 'true';
    none.textContent = 'Nothing found.';
    items.push(none);
  }
  list.replaceChildren(...items);
  list.hidden = items.length === 0;
  input.ariaExpanded = String(items.length > 0);
}

async function search(): Promise<void> {
  const text = input.value.trim();
  if (text.length < 2) return show([]);
  const found = searchPages(await load(), text);
  if (text === input.value.trim()) show(found);
}

function choose(step: number): void {
  const items = [...list.querySelectorAll('a')];
  if (items.length === 0) return;
  chosen = (chosen + step + items.length) % items.length;
  for (const [at, item] of items.entries()) item.parentElement!.ariaSelected = String(at === chosen);
  input.setAttribute('aria-activedescendant', `result-${chosen}`);
  items[chosen]!.scrollIntoView({ block: 'nearest' });
}

input.addEventListener('focus', () => void load());
input.addEventListener('input', () => void search());
input.addEventListener('keydown', event => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    choose(event.key === 'ArrowDown' ? 1 : -1);
  } else if (event.key === 'Enter') list.querySelectorAll('a')[Math.max(0, chosen)]?.click();
  else if (event.key === 'Escape') show([]);
});
document.addEventListener('click', event => {
  if (!(event.target as Element).closest('search')) show([]);
});
document.addEventListener('keydown', event => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || document.activeElement === input) return;
  event.preventDefault();
  input.focus();
});

// On a phone the table of contents is collapsed.
const contents = document.querySelector<HTMLDetailsElement>('nav > details')!;
if (matchMedia('(max-width: 60em)').matches) contents.open = false;
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' });

// One language of each sample is shown: the one that was chosen last, on any page.
const languageKey = 'stak-docs-language';
const samples = [...document.querySelectorAll<HTMLElement>('.samples')];

function showLanguage(language: string): void {
  for (const sample of samples) {
    const blocks = [...sample.querySelectorAll<HTMLElement>('.code')];
    const shown = blocks.find(block => block.dataset.language === language) ?? blocks[0];
    for (const block of blocks) block.hidden = block !== shown;
    for (const tab of sample.querySelectorAll<HTMLElement>('[role=tab]')) {
      const isShown = tab.textContent === shown?.dataset.language;
      tab.ariaSelected = String(isShown);
      tab.tabIndex = isShown ? 0 : -1;
    }
  }
}

for (const [number, sample] of samples.entries()) {
  const tabs = document.createElement('div');
  tabs.role = 'tablist';
  tabs.ariaLabel = 'Language';
  for (const [at, block] of sample.querySelectorAll<HTMLElement>('.code').entries()) {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.role = 'tab';
    tab.textContent = block.dataset.language ?? '';
    block.id = `sample-${number}-${at}`;
    block.role = 'tabpanel';
    block.ariaLabel = tab.textContent;
    tab.setAttribute('aria-controls', block.id);
    tab.addEventListener('click', () => {
      localStorage.setItem(languageKey, tab.textContent);
      // The tab stays where it is, although samples above it change their height.
      const before = tab.getBoundingClientRect().top;
      showLanguage(tab.textContent);
      window.scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
    });
    tabs.append(tab);
  }
  tabs.addEventListener('keydown', ({ key }) => {
    const all = [...tabs.querySelectorAll<HTMLElement>('[role=tab]')];
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length];
    next?.click();
    next?.focus();
  });
  sample.prepend(tabs);
}
showLanguage(localStorage.getItem(languageKey) ?? '');

// Marks the section that is being read in the contents of the page.
const contentsLinks = new Map(
  [...document.querySelectorAll<HTMLAnchorElement>('aside a')].map(link => [link.hash.slice(1), link]),
);
const headings = [...document.querySelectorAll('main h2, main h3')].filter(({ id }) => contentsLinks.has(id));
function markSection(): void {
  const read = headings.findLast(heading => heading.getBoundingClientRect().top < 120) ?? headings[0];
  for (const [id, link] of contentsLinks) link.ariaCurrent = id === read?.id ? 'location' : null;
}
if (headings.length > 0) {
  document.addEventListener('scroll', markSection, { passive: true });
  markSection();
}

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    void navigator.clipboard?.writeText(block.querySelector('code')!.textContent ?? '').then(() => {
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
  });
  block.append(button);
}
