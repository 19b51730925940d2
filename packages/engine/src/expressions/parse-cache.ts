import type { ExpressionKind } from './ast.ts';

// Services send the same expressions again and again. Two generations approximate least-recently-used without
// bookkeeping on a hit: when the young one is full it becomes the old one, and unused entries are dropped. The limit
// counts characters, because trees grow with the text: a client that never repeats itself costs a few megabytes.
const generationCharacters = 256 * 1024;
const entryCharacters = 64;

type Parse<Node, Kind> = (source: string, kind: Kind) => Node;

export function cacheParse<Node, Kind = ExpressionKind>(parse: Parse<Node, Kind>): Parse<Node, Kind> {
  let young = new Map<string, Node>();
  let old = new Map<string, Node>();
  let characters = 0;
  return (source, kind) => {
    let node = young.get(source);
    if (node !== undefined) return node;
    node = old.get(source) ?? parse(source, kind);
    characters += source.length + entryCharacters;
    if (characters > generationCharacters) {
      old = young;
      young = new Map();
      characters = 0;
    }
    young.set(source, node);
    return node;
  };
}
