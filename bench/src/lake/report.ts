import { type Cells, formatRate, markdownTable, textTable } from '../table.ts';
import type { DrainResult } from './backlog.ts';
import { costOf } from './iceberg.ts';
import type { Results } from './targets.ts';

type Table = (cells: Cells) => string;

export const printResults = (results: Results): string => report(results, textTable);
export const readmeSection = (results: Results): string => report(results, markdownTable);

const report = ({ insights, freshness, capture, iceberg, backlog }: Results, table: Table): string =>
  [
    ...(insights ? [table(insightCells(insights))] : []),
    ...(freshness ? [freshnessSentence(freshness)] : []),
    ...(capture ? [captureSentence(capture)] : []),
    ...(iceberg ? [icebergSentence(iceberg)] : []),
    ...(backlog ? [backlogSentence(backlog)] : []),
  ].join('\n\n');

const count = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const s = (valueMs: number): string => `${(valueMs / 1000).toFixed(1)} s`;

function insightCells({ tasks, changes, scan, insight, measures }: NonNullable<Results['insights']>): Cells {
  return [
    [`status of ${count(tasks)} tasks`, 'read units', 'p50', 'p99'],
    ['the document’s scan', count(scan.readUnits), s(scan.ms), ''],
    [
      `one of its ${count(scan.pages)} pages`,
      count(scan.readUnits / scan.pages),
      ms(measures.page.p50Ms),
      ms(measures.page.p99Ms),
    ],
    [
      `an insight, ${count(changes)} changes after a compaction`,
      count(insight.readUnits),
      ms(measures.insight.p50Ms),
      ms(measures.insight.p99Ms),
    ],
  ];
}

const freshnessSentence = ({ perSecond, bronze, insight }: NonNullable<Results['freshness']>): string =>
  `With ${perSecond} new tasks a second, one is in bronze after ${s(bronze.p50Ms)} (p50), ${s(bronze.p95Ms)} (p95), and in an insight after ${s(insight.p50Ms)}, ${s(insight.p95Ms)}.`;

const captureSentence = ({
  perSecond,
  written,
  seconds,
  lagP50Ms,
  lagP95Ms,
}: NonNullable<Results['capture']>): string =>
  `While the table changes ${count(perSecond)} times a second (${formatRate(written / seconds)} were written), the lake is behind by ${s(lagP50Ms)} (p50), ${s(lagP95Ms)} (p95).`;

const icebergSentence = (iceberg: NonNullable<Results['iceberg']>): string =>
  `With tables of Iceberg ${formatRate(iceberg.withTables)} changes a second are captured, without them ${formatRate(iceberg.withoutTables)}: they cost ${costOf(iceberg).toFixed(0)} %.`;

function backlogSentence({ few, many }: NonNullable<Results['backlog']>): string {
  const describe = ({ changes, seconds, privateMb, residentMb }: DrainResult) => {
    const memory =
      privateMb === undefined
        ? ''
        : ` with at most ${privateMb.toFixed(0)} MB of its own memory (${residentMb?.toFixed(0)} MB resident)`;
    return `${count(changes)} changes at ${formatRate(changes / seconds)} a second${memory}`;
  };
  return `A backlog is captured whole: ${describe(few)}, ${describe(many)}.`;
}
