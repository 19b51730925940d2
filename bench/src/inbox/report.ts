import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { readingNames } from './reading.ts';
import { requestNames, requestTitles } from './requests.ts';
import { percentOfConstant, type Results } from './targets.ts';

type Table = (cells: Cells) => string;

export const printResults = (results: Results): string => report(results, textTable);
export const readmeSection = (results: Results): string => report(results, markdownTable);

const report = ({ requests, reading, streaming, cost }: Results, table: Table): string =>
  [
    ...(requests ? [table(requestCells(requests))] : []),
    ...(reading ? [table(readingCells(reading))] : []),
    ...(streaming ? [streamingSentence(streaming)] : []),
    ...(cost ? [costSentence(cost)] : []),
  ].join('\n\n');

const requestCells = (requests: NonNullable<Results['requests']>): Cells => [
  ['inbox over HTTP, 32 in flight', 'requests/s', 'of the constant', 'p50', 'p99'],
  ...requestNames.map(name => {
    const { opsPerSecond, p50Ms, p99Ms } = requests[name];
    return [
      requestTitles[name],
      formatRate(opsPerSecond),
      `${percentOfConstant(requests, name)!.toFixed(0)} %`,
      `${p50Ms.toFixed(1)} ms`,
      `${p99Ms.toFixed(1)} ms`,
    ];
  }),
];

function readingCells({ short, long, measures }: NonNullable<Results['reading']>): Cells {
  const size = (messages: number) => `${messages.toLocaleString('en-US')} messages`;
  const titles: Record<(typeof readingNames)[number], string> = {
    'two queries': 'two bare queries of 30 messages',
    'feed, short': `feed of 30, of ${size(short)}`,
    'feed, long': `feed of 30, of ${size(long)}`,
    'a get': 'a bare get',
    'counts, short': `counts of ${size(short)}`,
    'counts, long': `counts of ${size(long)}`,
  };
  const micro = (ms: number) => `${(ms * 1000).toFixed(0)} µs`;
  return [
    ['inbox in process, one at a time', 'p50', 'p99'],
    ...readingNames.map(name => [titles[name], micro(measures[name].p50Ms), micro(measures[name].p99Ms)]),
  ];
}

const streamingSentence = ({ streams, perSecond, p50Ms, p99Ms }: NonNullable<Results['streaming']>): string =>
  `With ${streams} open event streams and ${perSecond} publishes a second, a message is on its user's stream after ${p50Ms.toFixed(1)} ms (p50), ${p99Ms.toFixed(1)} ms (p99).`;

function costSentence(cost: NonNullable<Results['cost']>): string {
  const { few, many, broadcastToFew, broadcastToMany, fanOut, publish, feed, counts } = cost;
  const number = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
  return [
    `A message to everyone costs ${number(broadcastToFew)} write units in an inbox of ${number(few)} users and ${number(broadcastToMany)} in one of ${number(many)}; copied to each of them and counted, the usual way, it would cost ${number(fanOut)} a user, ${number(fanOut * many)} in all.`,
    `A message to one user costs ${number(publish)} write units, a page of the feed ${number(feed.readUnits)} read units (${feed.queries} query), the counts ${number(counts.readUnits)} (${counts.gets} gets).`,
  ].join(' ');
}
