import { isAfter } from '@stak/streams';
import type { Violation } from './fixture.ts';
import type { Steps } from './node.ts';

// What consumers store about their work, while they do: the effects of a record that is handled again are made once, so
// a position that moves back would be seen nowhere else.

type Work = { owner?: string; sequence?: string };

export type StreamWatch = { around: Steps['around']; violations(): readonly Violation[] };

export function watchStreams(): StreamWatch {
  const nodes = new Map<string, string>(); // by the owner as which they lease
  const positions = new Map<string, string>();
  const violations: Violation[] = [];

  const check = (node: string, work: string, { owner, sequence }: Work): void => {
    const holder = owner === undefined ? undefined : nodes.get(owner);
    if (holder !== undefined && holder !== node)
      violations.push({
        what: `${node} wrote to ${work}, which ${holder} has leased`,
        about: [work],
        isFinal: true,
      });
    const before = positions.get(work);
    if (sequence !== undefined && before !== undefined && isAfter(before, sequence))
      violations.push({
        what: `${node} moved the position of ${work} back from ${before} to ${sequence}`,
        about: [work],
        isFinal: true,
      });
    if (sequence !== undefined) positions.set(work, sequence);
  };

  return {
    violations: () => violations,
    async around(node, { name, input: { TableName, Key, Item } }, call) {
      if (TableName === 'stak-streams' && typeof Item?.owner === 'string') nodes.set(Item.owner, node.name);
      const output = await call();
      if (TableName === 'stak-streams' && name === 'update' && String(Key?.sk).startsWith('work#')) {
        const { Attributes } = output as { Attributes?: Work };
        if (Attributes) check(node.name, `${Key!.pk} ${Key!.sk}`, Attributes);
      }
      return output;
    },
  };
}
