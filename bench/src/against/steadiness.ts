import { readFileSync } from 'node:fs';
import { median } from '../statistics.ts';

// Whether the machine did the same work in the same time throughout a round. Other programs, and other guests of the
// same host, slow it down.

export type Probe = {
  loopMs: number; // a fixed amount of work
  ticks?: Ticks; // unknown on other systems than Linux
};
type Ticks = { steal: number; total: number };

const mostLoopChange = 0.25;
const mostSteal = 0.05;

const loops = 3;
const iterations = 10_000_000;

export function probeMachine(): Probe {
  return { loopMs: median(Array.from({ length: loops }, timeLoop)), ticks: readTicks() };
}

// The reason why a round between these probes is unsteady; undefined if it is steady.
export function findUnsteadiness(probes: readonly Probe[], usualLoopMs: number): string | undefined {
  const changes = probes.map(({ loopMs }) => loopMs / usualLoopMs - 1);
  const change = changes.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most), 0);
  if (Math.abs(change) > mostLoopChange)
    return `a fixed loop took ${percent(Math.abs(change))} ${change > 0 ? 'longer' : 'less time'} than usual`;
  const steal = stealBetween(probes[0]?.ticks, probes.at(-1)?.ticks);
  return steal > mostSteal ? `${percent(steal)} of the processor time was stolen` : undefined;
}

export function parseTicks(stat: string): Ticks {
  // user, nice, system, idle, iowait, irq, softirq, steal; the guest fields that follow are part of user and nice.
  const fields = stat.split('\n', 1)[0]!.trim().split(/\s+/).slice(1, 9).map(Number);
  return { steal: fields[7] ?? 0, total: fields.reduce((a, b) => a + b, 0) };
}

function stealBetween(before: Ticks | undefined, after: Ticks | undefined): number {
  if (!before || !after || after.total === before.total) return 0;
  return (after.steal - before.steal) / (after.total - before.total);
}

const readTicks = (): Ticks | undefined =>
  process.platform === 'linux' ? parseTicks(readFileSync('/proc/stat', 'utf8')) : undefined;

function timeLoop(): number {
  const beganMs = performance.now();
  let state = 1;
  for (let i = 0; i < iterations; i++) state = Math.imul(state ^ i, 0x9e3779b1);
  // The result is used, so that no compiler leaves out the loop.
  return performance.now() - beganMs + (state === 0 ? Number.EPSILON : 0);
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
