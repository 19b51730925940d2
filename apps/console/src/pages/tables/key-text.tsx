import type { Key } from './queries.ts';

// A key as it is written. What stands for an attribute says for which one.
export function KeyText({ keyView }: { keyView: Key }) {
  return (
    <span className="stak-mono">
      {keyView.pieces.map(({ text, param }, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what it is by its place
          key={i}
          className={param === null ? 'stak-key-fixed' : 'stak-key-param'}
          title={param ?? undefined}
        >
          {text}
        </span>
      ))}
    </span>
  );
}

// `USER#{userId}`: the same, for what no item has filled in yet.
export function TemplateText({ text }: { text: string }) {
  return (
    <span className="stak-mono">
      {text.split(/(\{[^}]+\})/).map((part, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what it is by its place
          key={i}
          className={part.startsWith('{') ? 'stak-key-param' : 'stak-key-fixed'}
        >
          {part}
        </span>
      ))}
    </span>
  );
}
