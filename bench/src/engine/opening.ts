import { median } from '../statistics.ts';
import { runScript } from './child-script.ts';
import type { Opening } from './results.ts';

export type Openings = { empty: string; full: string; times: number };

export async function measureOpening({ empty, full, times }: Openings): Promise<Opening> {
  const emptyMs: number[] = [];
  const fullMs: number[] = [];
  for (let i = 0; i < times; i++) {
    emptyMs.push(await runScript<number>('opening-script', [empty]));
    fullMs.push(await runScript<number>('opening-script', [full]));
  }
  return { emptyMs: median(emptyMs), fullMs: median(fullMs) };
}
