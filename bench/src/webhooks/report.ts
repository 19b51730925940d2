import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import type { MachineRow } from './machine.ts';
import { requestNames, requestTitles } from './requests.ts';
import { percentOfConstant, type Results } from './targets.ts';

export const printResults = (results: Results): string => report(results, textTable);
export const readmeSection = (results: Results): string => report(results, markdownTable);

const report = (
  { requests, delivery, growth, retries, units, machine }: Results,
  table: (cells: Cells) => string,
) =>
  [
    ...(requests ? [table(requestCells(requests))] : []),
    ...(delivery ? [table(deliveryCells(delivery))] : []),
    ...(machine ? [table(machineCells(machine))] : []),
    ...(growth ? [growthSentence(growth)] : []),
    ...(retries ? [retriesSentence(retries)] : []),
    ...(units ? [unitsSentence(units)] : []),
  ].join('\n\n');

const ms = (value: number): string => `${value.toFixed(1)} ms`;
const count = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });

const requestCells = (requests: NonNullable<Results['requests']>): Cells => [
  ['webhooks, POST of 1 KB, 32 in flight', 'requests/s', 'of the constant', 'p50', 'p99', 'processor time'],
  ...requestNames.map(name => {
    const { opsPerSecond, p50Ms, p99Ms, cpuUs } = requests[name];
    const share = `${percentOfConstant(requests, name)!.toFixed(0)} %`;
    const spent = `${count(Math.round(cpuUs))} µs`;
    return [requestTitles[name], formatRate(opsPerSecond), share, ms(p50Ms), ms(p99Ms), spent];
  }),
];

function deliveryCells(delivery: NonNullable<Results['delivery']>): Cells {
  const { perSecond, direct, delivered, slowDestinations, alone, besideSlow } = delivery;
  const row = (title: string, { p50Ms, p99Ms }: typeof direct) => [title, ms(p50Ms), ms(p99Ms)];
  return [
    ['until the destination has it', 'p50', 'p99'],
    row(`a direct POST, ${perSecond} a second`, direct),
    row(`by way of Stak, ${perSecond} a second`, delivered),
    row('by way of Stak, a third of that', alone),
    row(`the same beside ${count(slowDestinations)} slow destinations`, besideSlow),
  ];
}

function machineCells({ settings, rows }: NonNullable<Results['machine']>): Cells {
  const { often, seldom } = settings.paces;
  const formatted = (value: number | undefined, unit: string) =>
    value === undefined ? '–' : `${count(Math.round(value))} ${unit}`;
  const row = (title: string, of: (row: MachineRow) => string) => [title, ...rows.map(of)];
  return [
    [
      '`stak start`, an event of 1 KB to one destination',
      ...rows.map(({ workers }) => `workers: ${workers}`),
    ],
    row('delivered a second, 32 callers', result => formatRate(result.deliveredPerSecond)),
    row(
      `${count(settings.events)} events, until the last has arrived`,
      result => `${count(result.throughMs / 1000)} s`,
    ),
    row('processor time of an event, busy', result => formatted(result.busyCpuUs, 'µs')),
    row(`the same, ${often.perSecond} a second`, result => formatted(result.oftenCpuUs, 'µs')),
    row(`the same, ${seldom.perSecond} a second`, result => formatted(result.seldomCpuUs, 'µs')),
    row(
      `until the destination has it, ${often.perSecond} a second: p50, p95, p99`,
      ({ often: { p50Ms, p95Ms, p99Ms } }) => [p50Ms, p95Ms, p99Ms].map(ms).join(', '),
    ),
    row('memory without mapped files, busy', result => formatted(result.privateMb, 'MB')),
    row(
      'last acknowledged event after kill -9 and a start',
      result => `${count(result.afterKillMs / 1000)} s`,
    ),
  ];
}

const growthSentence = (growth: NonNullable<Results['growth']>): string =>
  `Ingest with ${growth.map(({ stored, measure }) => `${count(stored)} events stored: ${formatRate(measure.opsPerSecond)} a second`).join('; with ')}. While the lake captures them, the longest time without an answer is ${ms(Math.max(...growth.map(({ longestGapMs }) => longestGapMs)))}.`;

const retriesSentence = ({ retries, made, drainedMs, perSecond, ingest }: NonNullable<Results['retries']>) =>
  `Of ${count(retries)} retries due in the same second, ${made === retries ? 'all' : count(made)} are made in ${count(drainedMs / 1000)} s; meanwhile ${perSecond} new events a second are taken in ${ms(ingest.p50Ms)} (p50), ${ms(ingest.p99Ms)} (p99).`;

const unitsSentence = ({ event, eventAndDelivery, attempt }: NonNullable<Results['units']>): string =>
  `An event of 1 KB costs ${count(event)} write units, with a delivery that it owes ${count(eventAndDelivery)}, and the attempt ${count(attempt)}.`;
