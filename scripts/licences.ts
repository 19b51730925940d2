import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Manifest = { name: string; version: string; license?: string; dependencies?: Record<string, string> };

/** The licences of every package of others that goes into a bundle: `inputs` of esbuild, and whatever `app` needs. */
export function collectLicences(root: string, inputs: readonly string[], app: string): string {
  const folders = new Set<string>();
  for (const input of inputs) {
    const folder = packageFolder(input);
    if (folder !== undefined) folders.add(join(root, folder));
  }
  addDependencies(root, join(root, app), folders);
  const sections = [...folders].map(describe).sort();
  return `What is bundled here was made by others too, under these licences.\n\n${sections.join('\n\n')}\n`;
}

// The innermost: a package may bring packages of its own.
const packageFolder = (path: string): string | undefined =>
  /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];

function addDependencies(root: string, from: string, folders: Set<string>): void {
  const { dependencies } = readManifest(from);
  for (const name of Object.keys(dependencies ?? {})) {
    const folder = findPackage(root, from, name);
    if (folder === undefined || folders.has(folder)) continue;
    if (!name.startsWith('@stak/')) folders.add(folder);
    addDependencies(root, folder, folders);
  }
}

function findPackage(root: string, from: string, name: string): string | undefined {
  const found = join(from, 'node_modules', name);
  if (existsSync(join(found, 'package.json'))) return found;
  return from === root ? undefined : findPackage(root, dirname(from), name);
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

function describe(folder: string): string {
  const { name, version, license } = readManifest(folder);
  const file = readdirSync(folder).find(entry => /^(licen[cs]e|copying)(\.|$)/i.test(entry));
  const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
  return `${'-'.repeat(80)}\n${name} ${version} (${license ?? 'see below'})${text}`;
}
