/**
 * The lines of a text that arrives in pieces, for NDJSON and JSON-RPC. Only \n ends a line: JSON may have other
 * characters that are ends of lines to Unicode, at which `node:readline` splits, too.
 */
export async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = []; // of the line that has not ended
  for await (const chunk of input) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    pieces.push(first);
    for (const next of others) {
      yield pieces.join('');
      pieces = [next];
    }
  }
  const last = pieces.join('') + decoder.decode();
  if (last !== '') yield last;
}
