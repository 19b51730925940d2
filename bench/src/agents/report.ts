import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import { requestNames, requestTitles } from './requests.ts';
import type { TurnUnits } from './saving.ts';
import { percentOfConstant, type Results } from './targets.ts';
import { type TurnName, turnNames } from './turns.ts';

type Table = (cells: Cells) => string;

export const printResults = (results: Results): string => report(results, textTable);
export const readmeSection = (results: Results): string => report(results, markdownTable);

const report = ({ requests, turns, saving, chats }: Results, table: Table): string =>
  [
    ...(requests ? [table(requestCells(requests))] : []),
    ...(turns ? [table(turnCells(turns))] : []),
    ...(saving ? [table(savingCells(saving))] : []),
    ...(chats ? [chatsSentence(chats)] : []),
  ].join('\n\n');

const count = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
const ms = (value: number): string => `${value.toFixed(1)} ms`;

const requestCells = (requests: NonNullable<Results['requests']>): Cells => [
  ['agents over HTTP, 32 in flight', 'requests/s', 'of the constant', 'p50', 'p99', 'processor time'],
  ...requestNames.map(name => {
    const { opsPerSecond, p50Ms, p99Ms, cpuUs } = requests[name];
    const share = `${percentOfConstant(requests, name)!.toFixed(0)} %`;
    const spent = `${count(Math.round(cpuUs))} µs`;
    return [requestTitles[name], formatRate(opsPerSecond), share, ms(p50Ms), ms(p99Ms), spent];
  }),
];

const turnTitles: Record<TurnName, string> = {
  engine: 'the engine’s calls of a turn',
  turn: 'the turn, answered by a rule',
};

function turnCells({ measures }: NonNullable<Results['turns']>): Cells {
  const micro = (value: number) => `${(value * 1000).toFixed(0)} µs`;
  return [
    ['agents in process, one at a time', 'p50', 'p99'],
    ...turnNames.map(name => [turnTitles[name], micro(measures[name].p50Ms), micro(measures[name].p99Ms)]),
  ];
}

function savingCells({ ours, documents }: NonNullable<Results['saving']>): Cells {
  const units = ({ readUnits, writeUnits }: TurnUnits) => `${count(readUnits)} RCU, ${count(writeUnits)} WCU`;
  const { last } = documents;
  const tooLarge = last && `none: an item is full at turn ${count(last.turn)} (${units(last)})`;
  return [
    ['one more turn', `number ${count(ours.few.turn)}`, `number ${count(ours.many.turn)}`],
    ['Stak, with gate, quota and window', units(ours.few), units(ours.many)],
    [
      'the document’s item, rewritten',
      units(documents.few),
      documents.many ? units(documents.many) : (tooLarge ?? ''),
    ],
  ];
}

function chatsSentence(chats: NonNullable<Results['chats']>): string {
  const { chats: open, comeBacks, words, missed, kilobytesEach } = chats;
  const memory = kilobytesEach === undefined ? '' : `, ${count(kilobytesEach)} KB of memory each`;
  return `${count(open)} open chats that a model is answering at the same time${memory}; ${count(words)} words, ${count(comeBacks)} chats hang up in between and come back, ${count(missed)} events missed.`;
}
