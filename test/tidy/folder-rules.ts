import { findImports, type Import, resolveRelative } from './packages.ts';
import { type Files, isTest, type Rule, sources } from './repository.ts';

// A package's folders import each other in one direction, so that each can be read without those above it. What is
// compared are neighbours: the folders and files beside each other in one folder.

type Edge = {
  readonly from: string;
  readonly to: string;
  readonly importing: string;
  readonly isType: boolean;
};
type Graph = { readonly source: string; readonly edges: readonly Edge[] };

// Pairs by type alone that a package may have.
const mostByType = 1;

const sourceOf = (path: string): string | undefined =>
  /^(?:packages|services)\/[^/]+\/src(?=\/)/.exec(path)?.[0];

// Where the paths of two files part: the neighbours that hold them.
function partingOf(from: string, to: string): [string, string] {
  const one = from.split('/');
  const other = to.split('/');
  let depth = 0;
  while (one[depth] === other[depth]) depth++;
  return [one.slice(0, depth + 1).join('/'), other.slice(0, depth + 1).join('/')];
}

const isOfTypes = (statement: string): boolean => {
  const clause = /^\s*(?:import|export)\s([^'"]*?)\bfrom\s*$/.exec(statement)?.[1]?.trim() ?? '';
  if (/^type\b/.test(clause)) return true;
  const names =
    /^\{([^}]*)\}$/
      .exec(clause)?.[1]
      ?.split(',')
      .filter(name => name.trim() !== '') ?? [];
  return names.length > 0 && names.every(name => /^\s*type\s/.test(name));
};

const statementOf = (text: string, { specifier, index }: Import): string =>
  text.slice(index, text.indexOf(specifier, index) - 1);

function readGraphs(files: Files): Graph[] {
  const graphs = new Map<string, Edge[]>();
  for (const [path, text] of sources(files)) {
    const source = sourceOf(path);
    if (source === undefined || isTest(path)) continue;
    const edges = graphs.get(source) ?? [];
    graphs.set(source, edges);
    for (const one of findImports(text)) {
      const target = one.specifier.startsWith('.') ? resolveRelative(path, one.specifier) : '';
      if (!target.startsWith(`${source}/`) || target === path) continue;
      const [from, to] = partingOf(path.slice(source.length + 1), target.slice(source.length + 1));
      edges.push({ from, to, importing: path, isType: isOfTypes(statementOf(text, one)) });
    }
  }
  return [...graphs].map(([source, edges]) => ({ source, edges }));
}

const isFolder = (name: string): boolean => !/\.\w+$/.test(name);

// Each circle once, as its names from the first in the alphabet.
function findCircles(edges: readonly Edge[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const circles = new Map<string, string[]>();
  for (const start of next.keys()) {
    const circle = shortestWayBack(start, next);
    if (!circle) continue;
    const first = circle.indexOf([...circle].sort()[0]!);
    const turned = [...circle.slice(first), ...circle.slice(0, first)];
    circles.set(turned.join(' → '), turned);
  }
  return [...circles.values()];
}

function shortestWayBack(
  start: string,
  next: ReadonlyMap<string, ReadonlySet<string>>,
): string[] | undefined {
  const ways: string[][] = [[start]];
  const reached = new Set<string>();
  for (const way of ways)
    for (const name of next.get(way.at(-1)!) ?? []) {
      if (name === start) return way;
      if (reached.has(name)) continue;
      reached.add(name);
      ways.push([...way, name]);
    }
  return undefined;
}

const pairName = (one: string, other: string): string => [one, other].sort().join(' ↔ ');

// Pairs of folders that import each other, and at least one of them for types only.
function pairsByType(edges: readonly Edge[]): string[] {
  const all = new Set(edges.map(({ from, to }) => `${from} → ${to}`));
  const byValue = new Set(edges.filter(({ isType }) => !isType).map(({ from, to }) => `${from} → ${to}`));
  const found = edges
    .filter(({ from, to }) => isFolder(from) && isFolder(to) && all.has(`${to} → ${from}`))
    .filter(({ from, to }) => !(byValue.has(`${from} → ${to}`) && byValue.has(`${to} → ${from}`)))
    .map(({ from, to }) => pairName(from, to));
  return [...new Set(found)];
}

const importsBetween = (edges: readonly Edge[], from: string, to: string): string =>
  edges.find(edge => edge.from === from && edge.to === to)!.importing;

export const foldersInOneDirection: Rule = files =>
  readGraphs(files).flatMap(({ source, edges }) => {
    const byValue = edges.filter(({ isType }) => !isType);
    const circles = findCircles(byValue).map(circle => {
      const places = circle.map((name, i) => importsBetween(byValue, name, circle[(i + 1) % circle.length]!));
      return { name: circle.length === 2 ? pairName(circle[0]!, circle[1]!) : circle.join(' → '), places };
    });
    const types = pairsByType(edges);
    return [
      ...circles.map(({ name, places }) => `${source}: a circle of imports: ${name} (${places.join(', ')})`),
      ...(types.length > mostByType
        ? [`${source}: more than ${mostByType} pair by type: ${types.join(', ')}`]
        : []),
    ];
  });

/** The folders of a package, each after those it imports: what a reader can begin with comes first. */
export function foldersInOrder(files: Files): [source: string, order: string][] {
  return readGraphs(files).flatMap(({ source, edges }) => {
    const folders = new Set(edges.flatMap(({ from, to }) => [from, to]).filter(isFolder));
    const inner = edges.filter(({ from, to, isType }) => !isType && folders.has(from) && folders.has(to));
    const order: string[] = [];
    const visit = (name: string, above: readonly string[]): void => {
      if (order.includes(name) || above.includes(name)) return;
      for (const { from, to } of inner) if (from === name) visit(to, [...above, name]);
      order.push(name);
    };
    for (const name of [...folders].filter(one => !one.includes('/')).sort()) visit(name, []);
    return order.length > 1 ? [[source, order.join(', ')] as [string, string]] : [];
  });
}
