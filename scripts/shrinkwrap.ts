import { dirname } from 'node:path';

type Entry = {
  version?: string;
  dev?: boolean;
  devOptional?: boolean;
  peer?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};
export type Lock = { packages: Record<string, Entry> };
type Manifest = { name: string; version: string; dependencies: Record<string, string> };

/** The part of the lockfile that a package with these dependencies needs, as its npm-shrinkwrap.json. */
export function shrinkwrap(lock: Lock, { name, version, dependencies }: Manifest): object {
  const packages: Record<string, Entry> = {};
  const add = (dependency: string, from: string, isOptional: boolean): void => {
    const path = find(lock, dependency, from);
    if (path === undefined) {
      if (isOptional) return;
      throw new Error(`package-lock.json has no ${dependency} for ${from || name}`);
    }
    if (packages[path] !== undefined && (isOptional || !packages[path].optional)) return;
    const {
      dev: _dev,
      devOptional: _devOptional,
      peer: _peer,
      optional: _optional,
      ...entry
    } = lock.packages[path]!;
    packages[path] = { ...entry, ...(isOptional && { optional: true }) };
    for (const next of Object.keys(entry.dependencies ?? {})) add(next, path, isOptional);
    for (const next of Object.keys(entry.optionalDependencies ?? {})) add(next, path, true);
  };
  for (const dependency of Object.keys(dependencies)) add(dependency, '', false);
  const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': { name, version, dependencies }, ...sorted },
  };
}

// Node finds a package beside the one that needs it, or beside one of those around it.
function find({ packages }: Lock, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(dirname(folder)).replace(/^\.$/, '')) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return undefined;
    if (folder.split('/').at(-2)?.startsWith('@')) folder = dirname(folder);
  }
}
