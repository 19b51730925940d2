import { readFileSync, writeFileSync } from 'node:fs';

// The generated part of a document is between `<!-- name -->` and `<!-- /name -->`.
export function replaceSection(document: string, name: string, content: string): string {
  const open = `<!-- ${name} -->`;
  const close = `<!-- /${name} -->`;
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from < 0 || to < from) throw new Error(`there is no section ${name}`);
  return `${document.slice(0, from + open.length)}\n${content.trim()}\n${document.slice(to)}`;
}

export function rewriteSection(file: URL, name: string, content: string): void {
  writeFileSync(file, replaceSection(readFileSync(file, 'utf8'), name, content));
}
