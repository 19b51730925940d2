import { Lexer, type Token, type Tokens, type TokensList } from 'marked';
import { Fragment, type ReactNode } from 'react';

// Models answer in Markdown. It becomes React elements, never HTML text, so nothing that a model was told to write runs
// or is loaded: raw HTML is shown as it is, images are links, and links lead to web pages and addresses only.

const safeLink = /^(?:https?:\/\/|mailto:)/i;
// Beyond these, a text or a part of it is shown as it is. The parser takes the square of a paragraph's length, and the
// stack for each block in a block: `[` or `>` many thousand times would take the page away from its reader.
const mostChars = 100_000;
const mostParagraphChars = 2000;
const mostParagraphs = 2000;
const mostDepth = 20;
const mostCells = 50_000; // of a table: its widest row has as many cells as every other

class BoundedLexer extends Lexer {
  private depth = 0;
  private paragraphs = 0;

  override blockTokens(src: string, tokens: Token[] = [], lastParagraphClipped?: boolean): TokensList {
    if (this.depth >= mostDepth) tokens.push(plain(src));
    else {
      this.depth++;
      super.blockTokens(src, tokens, lastParagraphClipped);
      this.depth--;
    }
    return tokens as TokensList;
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= mostParagraphChars && this.paragraphs++ < mostParagraphs)
      return super.inlineTokens(src, tokens);
    tokens.push(plain(src));
    return tokens;
  }
}

function mayHaveTables(text: string): boolean {
  const lines = text.split('\n');
  const widest = lines.reduce((most, line) => Math.max(most, line.split('|').length), 0);
  return widest * lines.length <= mostCells;
}

const plain = (text: string): Tokens.Text => ({ type: 'text', raw: text, text, escaped: false });

/** A text in Markdown, as models write it. Also while it is still being written. */
export function Markdown({ text }: { text: string }): ReactNode {
  if (text.length > mostChars) return text;
  const lexer = new BoundedLexer({ gfm: mayHaveTables(text), breaks: true });
  return <div className="stak-markdown">{all(lexer.lex(text))}</div>;
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
