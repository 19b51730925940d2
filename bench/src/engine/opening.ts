import { runScript } from '../child-script.ts';
import { median } from '../statistics.ts';
import type { Opening } from './results.ts';

export type Openings = { empty: string; full: string; times: number };

export async function measureOpening({ empty, full, times }: Openings): Promise<Opening> {
  const emptyMs: number[] = [];
  const fullMs: number[] = [];
  const script = import.meta.resolve('./opening-script.ts');
  for (let i = 0; i < times; i++) {
    emptyMs.push(await runScript<number>(script, [empty]));
    fullMs.push(await runScript<number>(script, [full]));
  }
  return { emptyMs: median(emptyMs), fullMs: median(fullMs) };
}
