import type { Idle } from '../server/starting.ts';
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

function startingSentence({ readyMs, one, two }: NonNullable<Results['starting']>): string {
  const ready = `In an empty folder \`stak start\` is ready after ${(readyMs / 1000).toFixed(1)} s`;
  const idle = ({ memory, corePercent }: Idle, workers: string) =>
    memory &&
    `with ${workers} it holds ${memory.residentMb.toFixed(0)} MB, of which ${memory.privateMb.toFixed(0)} MB are not mapped files, and takes ${corePercent!.toFixed(2)} % of a core`;
  const idles = [idle(one, 'one worker'), idle(two, 'two (files that processes share are counted once)')];
  return idles.every(text => text !== undefined)
    ? `${ready}. Idle, a minute later, ${idles.join('; ')}.`
    : `${ready}.`;
}

export function readmeSection({ requests, starting }: Results): string {
  return [
    ...(requests ? [markdownTable(cellsOf(requests))] : []),
    ...(starting ? [startingSentence(starting)] : []),
  ].join('\n\n');
}
