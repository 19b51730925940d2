import { getPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';

// What a sandbox is asked to do by its tests, in TypeScript as the programs of services are.
type Input = {
  act: 'ask' | 'echo' | 'hang' | 'heed' | 'wait' | 'fill' | 'shout' | 'throw' | 'environment' | 'priority';
  text?: string;
};

export async function run({ act, text = '' }: Input, isOver: () => boolean) {
  if (act === 'ask') return { text: String(isOver()) };
  if (act === 'hang') for (;;);
  if (act === 'heed') while (!isOver());
  if (act === 'wait') await setTimeout(Number(text));
  if (act === 'throw') throw new Error('thrown inside');
  if (act === 'shout') return { text: 'x'.repeat(5 * 1024 * 1024) };
  if (act === 'environment') return { text: Object.keys(process.env).join() };
  if (act === 'priority') return { priority: getPriority() };
  const held: number[][] = [];
  while (act === 'fill') held.push(Array(100_000).fill(Math.random()));
  return { text };
}
