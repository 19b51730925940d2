import { Code } from '@mantine/core';
import { diffLines } from '../../text/line-diff.ts';

const marks = { same: ' ', removed: '−', added: '+' };

/** Two texts as one, with the lines that one of them has marked. */
export function Diff({ label, before, after }: { label: string; before: string; after: string }) {
  return (
    <Code block className="stak-code stak-diff" tabIndex={0} aria-label={label}>
      {diffLines(before, after).map(({ kind, text }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of two stored texts never change
        <span key={at} data-kind={kind}>
          {marks[kind]} {text}
          {'\n'}
        </span>
      ))}
    </Code>
  );
}
