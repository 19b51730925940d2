import type { Operation } from './workload.ts';

// The child tells its parent, a line each, what it is about to do, and that it was told it is done. A line that was not
// finished was not written.

export type Theme = 'writes' | 'expiring' | 'index' | 'expiry' | 'tables' | 'sweep';
export const themes: Theme[] = ['writes', 'index', 'expiry', 'tables', 'sweep'];

// A change of the tables themselves.
export type Control = {
  id: string;
  action: 'create-table' | 'load' | 'enable-expiry' | 'drop-table' | 'add-index' | 'drop-index' | 'sweep';
  target: string;
};

export type Message =
  | { type: 'opening' | 'opened' }
  | { type: 'operation'; operation: Operation }
  | { type: 'control'; control: Control }
  | { type: 'done'; id: string }
  | { type: 'failed'; id: string; reason: string };

export type Entry<T> = { intent: T; done: boolean };
export type Journal = { operations: Entry<Operation>[]; controls: Entry<Control>[]; failures: string[] };

export const encodeMessage = (message: Message): string => `${JSON.stringify(message)}\n`;

export const countLines = (chunk: Buffer): number => {
  let lines = 0;
  for (const byte of chunk) if (byte === 10) lines++;
  return lines;
};

export function readJournal(text: string): Journal {
  const journal: Journal = { operations: [], controls: [], failures: [] };
  const open = new Map<string, Entry<unknown>>();
  for (const line of text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)) {
    const message = JSON.parse(line) as Message;
    if (message.type === 'operation') journal.operations.push(begin(open, message.operation));
    if (message.type === 'control') journal.controls.push(begin(open, message.control));
    if (message.type === 'done') open.get(message.id)!.done = true;
    if (message.type === 'failed') journal.failures.push(`${message.id}: ${message.reason}`);
  }
  return journal;
}

export const joinJournals = (journals: readonly Journal[]): Journal => ({
  operations: journals.flatMap(({ operations }) => operations),
  controls: journals.flatMap(({ controls }) => controls),
  failures: journals.flatMap(({ failures }) => failures),
});

function begin<T extends { id: string }>(open: Map<string, Entry<unknown>>, intent: T): Entry<T> {
  const entry = { intent, done: false };
  open.set(intent.id, entry);
  return entry;
}
