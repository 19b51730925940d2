import { UsageError } from '../config/errors.ts';

/**
 * The lines of a text that arrives in chunks, for NDJSON and JSON-RPC. Only \n ends a line: JSON may contain other
 * Unicode line separators, at which `node:readline` would split. A line that is longer than `mostChars` is an error.
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  mostChars = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = []; // of the incomplete line
  let chars = 0;
  for await (const chunk of input) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    pieces.push(first);
    chars += first.length;
    if (chars > mostChars) throw new UsageError(`a line is longer than ${mostChars} characters`);
    for (const next of others) {
      yield pieces.join('');
      pieces = [next];
      chars = next.length;
    }
  }
  const last = pieces.join('') + decoder.decode();
  if (last !== '') yield last;
}
