import { getPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';

// What a sandbox is asked to do by its tests, in TypeScript as the programs of services are.
type Input = {
  act: 'echo' | 'hang' | 'wait' | 'fill' | 'shout' | 'throw' | 'environment' | 'priority';
  text?: string;
};

export async function run({ act, text = '' }: Input, allowedMs: number) {
  if (act === 'hang') for (;;);
  if (act === 'wait') await setTimeout(allowedMs * 1000);
  if (act === 'throw') throw new Error('thrown inside');
  if (act === 'shout') return { text: 'x'.repeat(5 * 1024 * 1024) };
  if (act === 'environment') return { text: Object.keys(process.env).join() };
  if (act === 'priority') return { priority: getPriority() };
  const held: number[][] = [];
  while (act === 'fill') held.push(Array(100_000).fill(Math.random()));
  return { text, allowedMs };
}
