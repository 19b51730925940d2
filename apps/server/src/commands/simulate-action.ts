import { UsageError } from '../errors.ts';
import { note, printJson, printTable } from '../print.ts';
import { dollarsPerMonth, type Hottest } from '../simulate/heat.ts';
import { type Simulated, simulate } from '../simulate/simulate.ts';
import { readCount } from './flags.ts';

const rates = ['events', 'publishes', 'feeds', 'marks', 'turns', 'tasks'] as const;
type Rate = (typeof rates)[number];
export type SimulateFlags = { operations?: unknown; json?: unknown } & { [name in Rate]?: unknown };

const usualOperations = 48; // enough for counters to be added up as they are under load

export async function simulateDesigns(flags: SimulateFlags): Promise<void> {
  const operations = readCount('--operations', flags.operations, usualOperations);
  const wanted = new Map(rates.map(name => [name, readRate(`--${name}`, flags[name])]));
  const simulated = await simulate(operations, { note });
  if (flags.json) {
    printJson(simulated);
    return;
  }
  console.log('On DynamoDB a partition key takes 1,000 write units and 3,000 read units a second.\n');
  printTable([
    ['operation', 'in', 'read', 'write', '$ a million', 'most a second', 'because of'],
    ...simulated.flatMap(({ name, ways }) =>
      ways.map(({ place, heat }, index) => [
        index === 0 ? name : '',
        place,
        units(heat.reads),
        units(heat.writes),
        money(heat.dollars),
        rate(heat.hottest.most),
        describe(heat.hottest),
      ]),
    ),
  ]);
  const asked = simulated.filter(one => wanted.get(one.rate) !== undefined);
  if (asked.length > 0) printPlan(asked, wanted);
}

function printPlan(simulated: readonly Simulated[], wanted: ReadonlyMap<Rate, number | undefined>): void {
  let total = 0;
  const rows = simulated.map(one => {
    const perSecond = wanted.get(one.rate)!;
    const { heat } = one.ways.at(-1)!;
    const dollars = dollarsPerMonth(heat, perSecond);
    total += dollars;
    return [
      one.name,
      rate(perSecond),
      rate(heat.writes * perSecond),
      rate(heat.reads * perSecond),
      one.ways
        .slice(0, -1)
        .map(({ place, heat }) => `${rate(Math.ceil(perSecond / heat.hottest.most))} × ${place}`)
        .join(', '),
      `${Math.ceil((perSecond / heat.hottest.most) * 100)} %`,
      money(dollars),
    ];
  });
  console.log('\nAt the rates you gave:\n');
  printTable([
    ['operation', 'a second', 'write units', 'read units', 'spread over', 'hottest partition', '$ a month'],
    ...rows,
    ['all of it', '', '', '', '', '', money(total)],
  ]);
}

const describe = ({ kind, where, partition, units: each }: Hottest): string =>
  `${units(each)} ${kind} units of ${where} ${partition}`;

const units = (value: number): string => (Math.round(value * 10) / 10).toLocaleString('en');
const rate = (value: number): string => Math.round(value).toLocaleString('en');
const money = (dollars: number): string =>
  dollars.toLocaleString('en', {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: dollars < 100 ? 2 : 0,
  });

// `10000/s`, `1e4` and 10000 are the same.
function readRate(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const perSecond = Number(String(value).replace(/\/s$/, ''));
  if (perSecond > 0 && Number.isFinite(perSecond)) return perSecond;
  throw new UsageError(`${name} needs a number for each second, as 5e4/s, not ${JSON.stringify(value)}`);
}
