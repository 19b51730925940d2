import { Lexer, type Token, type Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';

// Models answer in Markdown. It becomes React elements, never HTML text, so nothing that a model was told to write runs
// or is loaded: raw HTML is shown as it is, images are links, and links lead to web pages and addresses only.

const safeLink = /^(?:https?:\/\/|mailto:)/i;
const mostChars = 100_000; // a longer text is shown as it is, because parsing would block the page

/** A text in Markdown, as models write it. Also while it is still being written. */
export function Markdown({ text }: { text: string }): ReactNode {
  if (text.length > mostChars) return text;
  return <div className="stak-markdown">{all(new Lexer({ gfm: true, breaks: true }).lex(text))}</div>;
}

const all = (tokens: readonly Token[] = []): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other identity
  tokens.map((token, at) => <Fragment key={at}>{show(token as MarkedToken)}</Fragment>);

type MarkedToken =
  | Tokens.Blockquote
  | Tokens.Br
  | Tokens.Code
  | Tokens.Codespan
  | Tokens.Del
  | Tokens.Em
  | Tokens.Escape
  | Tokens.Heading
  | Tokens.Hr
  | Tokens.HTML
  | Tokens.Image
  | Tokens.Link
  | Tokens.List
  | Tokens.Paragraph
  | Tokens.Space
  | Tokens.Strong
  | Tokens.Table
  | Tokens.Text;

function show(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p>{all(token.tokens)}</p>;
    case 'heading': // the page has headings of its own
      return (
        <p>
          <strong>{all(token.tokens)}</strong>
        </p>
      );
    case 'strong':
      return <strong>{all(token.tokens)}</strong>;
    case 'em':
      return <em>{all(token.tokens)}</em>;
    case 'del':
      return <del>{all(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls can be scrolled with the keyboard
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{all(token.tokens)}</blockquote>;
    case 'list':
      return <List {...token} />;
    case 'table':
      return <Table {...token} />;
    case 'link':
      return <Link href={token.href}>{all(token.tokens)}</Link>;
    case 'image':
      return <Link href={token.href}>{token.text || token.href}</Link>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'space':
      return null;
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens ? all(token.tokens) : token.text;
    default:
      return token.raw;
  }
}

const List = ({ ordered, start, items }: Tokens.List) => {
  const shown = items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items of a list never move
    <li key={at}>{all(item.tokens)}</li>
  ));
  return ordered ? <ol start={start === '' ? 1 : start}>{shown}</ol> : <ul>{shown}</ul>;
};

const Table = ({ header, rows }: Tokens.Table) => (
  <table>
    <thead>
      <tr>
        {header.map((cell, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cells never move
          <th key={at}>{all(cell.tokens)}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row, number) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows never move
        <tr key={number}>
          {row.map((cell, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cells never move
            <td key={at}>{all(cell.tokens)}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

const Link = ({ href, children }: { href: string; children: ReactNode }) =>
  safeLink.test(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ) : (
    children
  );
