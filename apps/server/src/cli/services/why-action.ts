import type { Client } from '@stak/client';
import { connectLate } from '../action.ts';

type Why = Awaited<ReturnType<Client['system']['why']>>['data'];
type Node = Why['chain'][number];

/** Prints the chain from the root to the thing, and the tree of what followed. */
export async function why(flags: { url?: unknown; json?: unknown }, id: string): Promise<void> {
  const { client, printJson, printTable } = await connectLate(flags);
  const { data } = await client.system.why({ id });
  if (flags.json) return printJson(data);
  const rows = [
    ...data.chain.map((node, depth) => rowOf(node, depth)),
    ...data.followed.map(node => rowOf(node, depthOf(data, node.id!))),
  ];
  printTable([['what happened', 'when', 'who', 'decided', 'id'], ...rows]);
  const hidden = [...data.chain, ...data.followed].reduce((sum, node) => sum + node.hidden, 0);
  if (hidden > 0) console.error(`${hidden} more are not yours to see.`);
  if (data.has_more) console.error('More has followed than is listed.');
}

function rowOf({ id, kind, at, what, by, decided }: Node, depth: number): string[] {
  const indent = depth === 0 ? '' : `${'  '.repeat(depth - 1)}└ `;
  const time = at === null ? '' : at.replace(/\.\d+Z$/, 'Z');
  return [`${indent}${kind}: ${oneLine(what)}`, time, by ?? '', oneLine(decided ?? ''), id ?? ''];
}

// What followed is below the thing itself, which is the last of the chain.
function depthOf({ chain, followed }: Why, id: string): number {
  const parents = new Map(followed.map(node => [node.id, node.because_of]));
  let depth = chain.length - 1;
  for (let at: string | undefined = id; at !== undefined && parents.has(at); at = parents.get(at)) depth += 1;
  return depth;
}

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
