import type { Key } from './queries.ts';

// A key as it is stored. The parts that come from an attribute name it.
export function KeyText({ keyView }: { keyView: Key }) {
  return (
    <span className="stak-mono">
      {keyView.pieces.map(({ text, param }, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no id but their position
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

// The same for a template such as `USER#{userId}`.
export function TemplateText({ text }: { text: string }) {
  return (
    <span className="stak-mono">
      {text.split(/(\{[^}]+\})/).map((part, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no id but their position
          key={i}
          className={part.startsWith('{') ? 'stak-key-param' : 'stak-key-fixed'}
        >
          {part}
        </span>
      ))}
    </span>
  );
}
