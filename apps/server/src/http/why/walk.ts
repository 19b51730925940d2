import { type Asker, type Findings, type Ref, refText, type Thing } from '@stak/kit';
import * as limits from './limits.ts';

// Follows causes up to the root, and what followed down, among what the asker may see.

export type Node = {
  readonly thing?: Thing; // without it, a gap
  readonly missing?: Ref; // it is not stored any more
  readonly hidden: number; // things that the asker may not see, instead of or below this one
};
export type Branch = Node & { readonly thing: Thing; readonly parent: string };
export type Why = {
  readonly chain: readonly Node[]; // the root first, the thing itself last
  readonly followed: readonly Branch[]; // each after the one that caused it
  readonly hidden: number; // things that the asker may not see, right below the thing itself
  readonly hasMore: boolean;
};

export type Walk = {
  findings: Findings;
  asker: Asker;
  // `other`: it belongs to someone else, and is as if it did not exist.
  seen(thing: Thing): Promise<'yes' | 'hidden' | 'other'>;
};

export async function explain(walk: Walk, start: Ref): Promise<Why | undefined> {
  const [thing] = await find(walk, start);
  if (!thing || (await walk.seen(thing)) !== 'yes') return undefined;
  const chain = await chainOf(walk, thing);
  return { chain, ...(await followedBy(walk, thing)) };
}

// A part that cannot be in a key names nothing.
const isKeyable = (part: string): boolean => part.length <= limits.partChars && !/[#\p{Cc}]/u.test(part);

const find = async ({ findings, asker }: Walk, { kind, parts }: Ref): Promise<readonly Thing[]> =>
  Object.hasOwn(findings, kind) && parts.every(isKeyable) ? findings[kind]!(parts, asker) : [];

async function chainOf(walk: Walk, start: Thing): Promise<Node[]> {
  const chain: Node[] = [{ thing: start, hidden: 0 }];
  const passed = new Set([refText(start.ref)]);
  for (let cause = start.cause; cause && passed.size <= limits.chain; ) {
    const [thing]: readonly Thing[] = await find(walk, cause);
    const seen = thing && (await walk.seen(thing));
    if (!thing || seen === 'other') {
      // What a user may not see may be among what is gone.
      chain.push(walk.asker.userId === undefined ? { missing: cause, hidden: 0 } : { hidden: 1 });
      break;
    }
    const name = refText(thing.ref);
    if (passed.has(name)) break; // two things that name each other as their cause
    passed.add(name);
    const last = chain.at(-1)!;
    if (seen === 'yes') chain.push({ thing, hidden: 0 });
    else if (last.thing) chain.push({ hidden: 1 });
    else chain[chain.length - 1] = { hidden: last.hidden + 1 };
    cause = thing.cause;
  }
  return chain.toReversed();
}

// In breadth first, so that a thing with much to it does not keep out the others.
async function followedBy(walk: Walk, start: Thing): Promise<Omit<Why, 'chain'>> {
  const branches: Branch[] = [];
  const passed = new Set([refText(start.ref)]);
  const hidden = new Map<string, number>();
  let hasMore = start.hasMore ?? false;
  let level = [start];
  let lookups = 0;
  const hiddenBelow = (of: Thing) => hidden.get(refText(of.ref)) ?? 0;
  const done = (isPartial: boolean) => ({
    followed: branches.map(branch => ({ ...branch, hidden: hiddenBelow(branch.thing) })),
    hidden: hiddenBelow(start),
    hasMore: isPartial,
  });
  for (let depth = 0; level.length > 0 && depth < limits.depth; depth++) {
    const next: Thing[] = [];
    for (const thing of level)
      for (const named of thing.followed) {
        if (++lookups > limits.lookups) return done(true);
        for (const child of await find(walk, named)) {
          const name = refText(child.ref);
          if (passed.has(name)) continue;
          passed.add(name);
          const seen = await walk.seen(child);
          const parent = refText(thing.ref);
          if (seen === 'hidden') hidden.set(parent, (hidden.get(parent) ?? 0) + 1);
          if (seen !== 'yes') continue;
          if (branches.length === limits.branches) return done(true);
          branches.push({ thing: child, parent, hidden: 0 });
          next.push(child);
          hasMore ||= child.hasMore ?? false;
        }
      }
    level = next;
  }
  return done(hasMore || level.some(({ followed }) => followed.length > 0));
}
