import type { Node, Write } from './node.ts';

// What waits for a node at a write, right before or after it is made. A claim that is made once in a run is met as often
// as the renewals that are made all the time, so each step of a protocol has its turn.

type When = 'before' | 'after';
type Act = (node: Node) => void;

export type Ambush = {
  at(node: Node, write: Write, when: When): void;
  // Returns where: one of the kinds of writes that were seen so far.
  lay(pick: <T>(list: readonly T[]) => T, act: Act): string | undefined;
  // Forgets the kinds of writes that prepared the run.
  begin(): void;
  lift(): void;
};

const seenLeast = 3; // times before and after a write: what happened once may never happen again
const laidMost = 8; // at a time: most of them wait for something that seldom happens

export function createAmbush(): Ambush {
  const kinds: string[] = [];
  const seen = new Map<string, number>();
  let laid: { kind: string; when: When; act: Act }[] = [];
  return {
    at(node, write, when) {
      const kind = kindOf(write);
      if (kind === undefined) return;
      const times = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, times);
      if (times === seenLeast) kinds.push(kind);
      const found = laid.find(one => one.kind === kind && one.when === when);
      if (!found) return;
      laid = laid.filter(one => one !== found);
      found.act(node);
    },
    lay(pick, act) {
      if (kinds.length === 0) return undefined;
      const kind = pick(kinds);
      const when = pick(['before', 'after'] as const);
      laid = [...laid.slice(1 - laidMost), { kind, when, act }];
      return `${when} ${kind}`;
    },
    begin() {
      kinds.length = 0;
      seen.clear();
    },
    lift() {
      laid = [];
    },
  };
}

// The table, what the keys begin with, and the attributes that change.
function kindOf({ name, input }: Write): string | undefined {
  const { TransactItems } = input;
  if (!TransactItems) return isUsual(input) ? undefined : `${name} ${partOf(input)}`;
  const parts = TransactItems.flatMap(step => Object.values(step)).map(step => partOf(step));
  return [...new Set(parts)].join(', ');
}

// Reports that a node is alive, and which consumers it runs.
const isUsual = ({ TableName, Item }: Write['input']): boolean =>
  TableName === 'stak-streams' && /^(?:member#|srv_)/.test(String(Item?.sk));

function partOf({ TableName, Key, Item, ExpressionAttributeNames }: Write['input']): string {
  const { pk, sk, PK, SK } = Key ?? Item ?? {};
  const [first = '', second = ''] = [pk ?? PK, sk ?? SK].map(text => String(text).split('#')[0]);
  // A consumer by its name: what each one stores is a protocol of its own.
  const whose = TableName === 'stak-streams' ? String(pk) : first;
  const names = Object.values(ExpressionAttributeNames ?? {})
    .toSorted()
    .join(' ');
  return `${TableName} ${whose} ${second} ${names}`;
}
