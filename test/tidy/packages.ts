import { dirname, join, normalize } from 'node:path/posix';
import type { Files } from './repository.ts';

export type Package = {
  readonly folder: string; // '' for the root
  readonly name: string;
  readonly version: string;
  readonly dependencies: ReadonlySet<string>;
  readonly devDependencies: ReadonlySet<string>;
  readonly exports: ReadonlySet<string>;
};

export function readPackages(files: Files): Package[] {
  const packages: Package[] = [];
  for (const [path, text] of files) {
    if (path !== 'package.json' && !path.endsWith('/package.json')) continue;
    const json = JSON.parse(text);
    const declared = { ...json.dependencies, ...json.optionalDependencies, ...json.peerDependencies };
    packages.push({
      folder: path === 'package.json' ? '' : dirname(path),
      name: json.name,
      version: json.version,
      dependencies: new Set(Object.keys(declared)),
      devDependencies: new Set(Object.keys(json.devDependencies ?? {})),
      exports: new Set(Object.keys(json.exports ?? {})),
    });
  }
  return packages;
}

export function packageOf(path: string, packages: readonly Package[]): Package | undefined {
  let nearest: Package | undefined;
  for (const one of packages) {
    const holds = one.folder === '' || path.startsWith(`${one.folder}/`);
    if (holds && (!nearest || one.folder.length > nearest.folder.length)) nearest = one;
  }
  return nearest;
}

export type Import = { readonly specifier: string; readonly index: number };

// Statements begin their line, which tells them from a PartiQL text that says: select … from "table".
const importForms = [
  /^[ \t]*(?:import|export)\s[\w$*\s{},]*?\bfrom\s*['"]([^'"\n]+)['"]/gm,
  /^[ \t]*import\s*['"]([^'"\n]+)['"]/gm,
  /\b(?:import|require|require\.resolve|import\.meta\.resolve|vi\.mock)\s*\(\s*['"]([^'"\n]+)['"]/g,
];

export function findImports(text: string): Import[] {
  return importForms.flatMap(form =>
    [...text.matchAll(form)].map(match => ({ specifier: match[1]!, index: match.index })),
  );
}

export const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

export const resolveRelative = (path: string, specifier: string): string =>
  normalize(join(dirname(path), specifier));
