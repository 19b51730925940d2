import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { requestNames, requestTitles } from './requests.ts';
import { percentOf, type Results } from './targets.ts';

export function printResults({ requests, starting }: Results): string {
  return [
    ...(requests ? [textTable(cellsOf(requests))] : []),
    ...(starting ? [startingSentence(starting)] : []),
  ].join('\n\n');
}

function cellsOf(requests: NonNullable<Results['requests']>): Cells {
  return [
    ['32 in flight', 'requests/s', 'of the constant', 'of Hono alone', 'p50', 'p99', 'processor time'],
    ...requestNames.map(name => {
      const { opsPerSecond, p50Ms, p99Ms, cpuUs } = requests[name];
      return [
        requestTitles[name],
        formatRate(opsPerSecond),
        `${percentOf(requests, name)!.toFixed(0)} %`,
        `${percentOf(requests, name, 'bare')!.toFixed(0)} %`,
        `${p50Ms.toFixed(1)} ms`,
        `${p99Ms.toFixed(1)} ms`,
        `${cpuUs.toFixed(0)} µs`,
      ];
    }),
  ];
}

function startingSentence({ readyMs, memory }: NonNullable<Results['starting']>): string {
  const ready = `In an empty folder \`stak start\` is ready after ${(readyMs / 1000).toFixed(1)} s`;
  if (!memory) return `${ready}.`;
  const [resident, own, peak] = [memory.residentMb, memory.privateMb, memory.peakMb].map(mb => mb.toFixed(0));
  return `${ready}; a minute later, idle, it holds ${resident} MB, ${own} MB of them its own (at most ${peak} MB before, while the demo workspace was made).`;
}

export function readmeSection({ requests, starting }: Results): string {
  return [
    ...(requests ? [markdownTable(cellsOf(requests))] : []),
    ...(starting ? [startingSentence(starting)] : []),
  ].join('\n\n');
}
