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
