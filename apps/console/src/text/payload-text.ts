const hexBytesMost = 16_384; // about a thousand lines, which a browser still lays out quickly

const depthMost = 100; // each level indents all lines inside it
const charsMost = 2_000_000; // short lines deep inside would make a hundred times of a body, which anybody can send

export const prettyOf = (bytes: Uint8Array): string => prettyText(new TextDecoder().decode(bytes));

export function prettyText(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return layOut(text) ?? text;
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const opens = new Set(['{', '[']);
const closes = new Set(['}', ']']);

/** A value as JSON, laid out unless that would be too large: skills and models return what they like. */
export const jsonText = (value: unknown): string => {
  try {
    return prettyText(JSON.stringify(value) ?? '');
  } catch {
    return 'This is nested too deep to be shown.';
  }
};

// Changes only the whitespace, so numbers that JavaScript cannot represent stay as they are.
function layOut(json: string): string | undefined {
  const tokens = json.match(token) ?? [];
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  const laid: string[] = [];
  let chars = 0;
  for (const [i, one] of tokens.entries()) {
    chars += one.length + 2 * depth;
    if (chars > charsMost) return undefined;
    if (opens.has(one)) {
      if (++depth > depthMost) return undefined;
      laid.push(one, closes.has(tokens[i + 1]!) ? '' : line());
    } else if (closes.has(one)) {
      depth--;
      laid.push(opens.has(tokens[i - 1]!) ? '' : line(), one);
    } else laid.push(one === ',' ? one + line() : one === ':' ? ': ' : one);
  }
  return laid.join('');
}

// Sixteen bytes per line, as in other hex viewers.
export function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, hexBytesMost); at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map(byte => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map(byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  if (bytes.length > hexBytesMost) lines.push(`… and ${bytes.length - hexBytesMost} bytes more`);
  return lines.join('\n');
}
