import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from './errors.ts';

// Asks at the terminal, or takes the line from a pipe. A password is not echoed.
export async function ask(question: string, { isSecret = false } = {}): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? silent : process.stderr,
    terminal: isTerminal,
  });
  try {
    for await (const line of lines) return line;
    throw new UsageError(`nothing was given for ${question.replace(/:?\s*$/, '')}`);
  } finally {
    lines.close();
    if (isTerminal && isSecret) process.stderr.write('\n');
  }
}
