import type { ProjectionNode } from './ast.ts';
import { createCursor, finish, parsePath, takeSymbol } from './cursor.ts';
import { cacheParse } from './parse-cache.ts';

const keywords: ReadonlySet<string> = new Set();
const ranks = ['reserved', 'path'] as const;

export const parseProjection = cacheParse((source, kind): ProjectionNode => {
  const cursor = createCursor(kind, source, keywords, ranks);
  const paths: ProjectionNode = [];
  do paths.push(parsePath(cursor));
  while (takeSymbol(cursor, ','));
  finish(cursor);
  return paths;
});
