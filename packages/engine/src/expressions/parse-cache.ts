import type { ExpressionKind } from './ast.ts';

// Services send the same expressions again and again. Two generations approximate least-recently-used without
// bookkeeping on a hit: when the young one is full it becomes the old one, and what nobody asked for is gone.
const generationSize = 1000;

type Parse<Node> = (source: string, kind: ExpressionKind) => Node;

export function cacheParse<Node>(parse: Parse<Node>): Parse<Node> {
  let young = new Map<string, Node>();
  let old = new Map<string, Node>();
  return (source, kind) => {
    let node = young.get(source);
    if (node !== undefined) return node;
    node = old.get(source) ?? parse(source, kind);
    if (young.size >= generationSize) {
      old = young;
      young = new Map();
    }
    young.set(source, node);
    return node;
  };
}
