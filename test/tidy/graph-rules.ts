import {
  findImports,
  type Package,
  packageName,
  packageOf,
  readPackages,
  resolveRelative,
} from './packages.ts';
import { isTest, placeOf, type Rule, sources } from './repository.ts';

// Who may depend on whom, from the floor up. The tests of a room may use any package besides.
const packageEdges: Record<string, readonly string[]> = {
  '@stak/kit': [],
  '@stak/json-schema': [],
  '@stak/sandbox': ['@stak/kit'],
  '@stak/engine': ['@stak/kit'],
  '@stak/table': ['@stak/kit'],
  '@stak/http': ['@stak/kit', '@stak/table'],
  '@stak/client': [],
  '@stak/inbox-react': ['@stak/client'],
  '@stak/portal-react': ['@stak/client', '@stak/inbox-react'],
  '@stak/outbound': ['@stak/kit'],
  '@stak/mail': ['@stak/kit'],
  '@stak/streams': ['@stak/kit', '@stak/table'],
  '@stak/langgraph': ['@stak/table'],
};
const servicesForAll = ['@stak/accounts', '@stak/tenants']; // they say who is calling

const isOurs = (name: string): boolean => name.startsWith('@stak/');
const wing = (one: Package): string => one.folder.split('/')[0]!;

function mayDependOn(from: Package, to: Package): boolean {
  if (wing(from) === 'packages') return packageEdges[from.name]?.includes(to.name) ?? false;
  if (wing(from) === 'services')
    return (wing(to) === 'packages' && to.name !== '@stak/engine') || servicesForAll.includes(to.name);
  if (wing(from) === 'apps') return wing(to) === 'packages' || wing(to) === 'services';
  return true; // bench and the root use whatever they measure or check
}

// Pages are tested on the server that serves them, the portal with the browser of the console's tests.
const pagesTestedWith: Record<string, readonly string[]> = {
  '@stak/console': ['@stak/server'],
  '@stak/portal': ['@stak/server', '@stak/console'],
};
const mayTestWith = (from: Package, to: Package): boolean =>
  mayDependOn(from, to) ||
  wing(to) === 'packages' ||
  (pagesTestedWith[from.name]?.includes(to.name) ?? false);

export const packageGraph: Rule = files => {
  const packages = readPackages(files);
  const complaints: string[] = [];
  for (const from of packages) {
    if (wing(from) === 'packages' && !packageEdges[from.name])
      complaints.push(`${from.folder}: ${from.name} has no place in the package graph`);
    if (isOurs(from.name) && from.name !== `@stak/${from.folder.split('/').at(-1)}`)
      complaints.push(`${from.folder}: ${from.name} is not named after its folder`);
    const edges = [
      ...[...from.dependencies].map(name => ({ name, allowed: mayDependOn })),
      ...[...from.devDependencies].map(name => ({ name, allowed: mayTestWith })),
    ];
    for (const { name, allowed } of edges) {
      if (!isOurs(name)) continue;
      const to = packages.find(one => one.name === name);
      if (!to) complaints.push(`${from.folder}/package.json: ${name} does not exist`);
      else if (!allowed(from, to)) complaints.push(`${from.folder}/package.json: must not depend on ${name}`);
    }
  }
  return [...complaints, ...findCycles(packages)];
};

/** They are released together. */
export const oneVersion: Rule = files => {
  const packages = readPackages(files);
  const whole = packages.find(one => one.folder === '')?.version;
  return packages
    .filter(one => one.version !== whole)
    .map(one => `${one.folder}/package.json: has version ${one.version}, the others have ${whole}`);
};

function findCycles(packages: readonly Package[]): string[] {
  const byName = new Map(packages.map(one => [one.name, one]));
  const visit = (name: string, way: readonly string[]): string[] => {
    if (way.includes(name)) return name === way[0] ? [`cycle: ${[...way, name].join(' → ')}`] : [];
    return [...(byName.get(name)?.dependencies ?? [])]
      .filter(isOurs)
      .flatMap(next => visit(next, [...way, name]));
  };
  return packages.flatMap(one => visit(one.name, []));
}

export const declaredImports: Rule = files => {
  const packages = readPackages(files);
  const tools = packages.find(one => one.folder === '')?.devDependencies ?? new Set();
  const complaints: string[] = [];
  for (const [path, text] of sources(files)) {
    const home = packageOf(path, packages);
    if (!home) continue;
    const complain = (index: number, what: string) =>
      complaints.push(`${placeOf(path, text, index)}: ${what}`);
    for (const { specifier, index } of findImports(text)) {
      if (specifier.startsWith('node:') || specifier.startsWith('.') || specifier.startsWith('/')) continue;
      const name = packageName(specifier);
      if (name === home.name || home.dependencies.has(name)) continue;
      if (isTest(path) && (home.devDependencies.has(name) || tools.has(name))) continue;
      if (home.folder === '' && tools.has(name)) continue;
      if (home.devDependencies.has(name)) complain(index, `${name} is a dev dependency, for tests only`);
      else complain(index, `${name} is not declared in ${home.folder || '.'}/package.json`);
    }
  }
  return complaints;
};

export const noDeepImports: Rule = files => {
  const packages = readPackages(files);
  const complaints: string[] = [];
  for (const [path, text] of sources(files)) {
    for (const { specifier, index } of findImports(text)) {
      const complain = () =>
        complaints.push(`${placeOf(path, text, index)}: reaches into another package: ${specifier}`);
      if (specifier.startsWith('.')) {
        const target = resolveRelative(path, specifier);
        if (target.startsWith('..') || packageOf(target, packages) !== packageOf(path, packages)) complain();
      } else if (isOurs(specifier)) {
        const name = packageName(specifier);
        const entry = `.${specifier.slice(name.length)}`;
        const target = packages.find(one => one.name === name);
        if (entry !== '.' && !target?.exports.has(entry)) complain();
      }
    }
  }
  return complaints;
};
