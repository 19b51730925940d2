import { createInterface } from 'node:readline/promises';
import { explain } from '../../config/errors.ts';

export type ChatSession = {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream; // for the prompt and the echo
  say(content: string, signal: AbortSignal): Promise<void>;
};

// Reads lines until Ctrl-D or Ctrl-C. An error with one message is printed, and the session continues.
export async function converse({ input, output, say }: ChatSession): Promise<void> {
  const lines = createInterface({ input, output, terminal: true, prompt: '> ' });
  const stopping = new AbortController();
  lines.on('SIGINT', () => {
    stopping.abort();
    lines.close();
  });
  lines.prompt();
  for await (const line of lines) {
    const content = line.trim();
    if (content !== '')
      await say(content, stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) output.write(`stak: ${explain(error)}\n`);
      });
    if (stopping.signal.aborted) break;
    lines.prompt();
  }
  output.write('\n');
}
