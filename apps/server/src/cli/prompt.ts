import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../config/errors.ts';

// Prompts at the terminal, or reads the next line from a pipe. A password is not echoed.
export async function ask(question: string, { isSecret = false } = {}): Promise<string> {
  const line = process.stdin.isTTY ? await askTerminal(question, isSecret) : await readPiped();
  if (line === undefined) throw new UsageError(`nothing was given for ${question.replace(/:?\s*$/, '')}`);
  return line;
}

async function askTerminal(question: string, isSecret: boolean): Promise<string | undefined> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? silent : process.stderr;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    for await (const line of lines) return line;
    return undefined;
  } finally {
    lines.close();
    if (isSecret) process.stderr.write('\n');
  }
}

let piped: { lines: Interface; waiting: AsyncIterator<string>; isOpen: boolean } | undefined;

// One reader for all prompts: a second one would miss what arrived together with the first line. It pauses between
// prompts, so that a pipe which stays open does not keep the program running.
async function readPiped(): Promise<string | undefined> {
  piped ??= openPipe();
  if (piped.isOpen) piped.lines.resume();
  const { value, done } = await piped.waiting.next();
  if (piped.isOpen) piped.lines.pause();
  return done ? undefined : value;
}

function openPipe() {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const opened = { lines, waiting: lines[Symbol.asyncIterator](), isOpen: true };
  lines.once('close', () => {
    opened.isOpen = false;
  });
  return opened;
}
