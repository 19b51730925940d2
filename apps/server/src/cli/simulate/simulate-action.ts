import { type DueShards, dueShardsMost, usualDueShards } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readCount, readWhole } from '../../config/flags.ts';
import { note, printJson, printTable, tableText } from '../print.ts';
import { withDueShards } from './due-shards.ts';
import type { Hottest } from './heat.ts';
import { type Load, type Plan, planLoad } from './load.ts';
import measured from './measured.json' with { type: 'json' };
import { type Simulated, simulate } from './simulate.ts';

const rates = ['events', 'publishes', 'feeds', 'marks', 'turns', 'modelTurns', 'tasks'] as const;
type Rate = (typeof rates)[number];
export type SimulateFlags = {
  measure?: unknown;
  operations?: unknown;
  users?: unknown;
  tenants?: unknown;
  stored?: unknown;
  servers?: unknown;
  webhooksDueShards?: unknown;
  agentsDueShards?: unknown;
  json?: unknown;
} & { [name in Rate]?: unknown };

const usualOperations = 48; // enough for counters to be added up as under load
const usualUsers = 1e6;
const usersPerTenant = 1000;
const keysShown = 8;

export async function simulateDesigns(flags: SimulateFlags): Promise<void> {
  const load = readLoad(flags);
  const isPlanned = load.rates.size > 0 || load.storedGb !== undefined;
  const simulated = await readMeasured(flags, readDueShards(flags));
  if (flags.json) {
    printJson(isPlanned ? planLoad(simulated, load) : simulated);
    return;
  }
  if (isPlanned) {
    console.log(planText(planLoad(simulated, load), load));
    return;
  }
  console.log('On DynamoDB a partition key takes 1,000 write units and 3,000 read units a second.\n');
  printTable(tableOf(simulated));
}

// The measurements of this version are stored beside it, so that they need not be repeated each time.
async function readMeasured(flags: SimulateFlags, dueShards: DueShards): Promise<readonly Simulated[]> {
  if (!flags.measure && flags.operations === undefined)
    return withDueShards(measured as Simulated[], dueShards);
  return simulate(readCount('--operations', flags.operations, usualOperations), { note, dueShards });
}

export function readDueShards({ webhooksDueShards, agentsDueShards }: SimulateFlags): DueShards {
  const { webhooks, agents } = usualDueShards;
  const read = (name: string, value: unknown, usual: number): number =>
    value === undefined ? usual : readWhole(name, value, usual, dueShardsMost);
  return {
    webhooks: read('--webhooks-due-shards', webhooksDueShards, webhooks),
    agents: read('--agents-due-shards', agentsDueShards, agents),
  };
}

export const tableOf = (simulated: readonly Simulated[]): string[][] => [
  ['operation', 'in', 'read units', 'write units', '$ a million', 'KB kept', 'most a second', 'because of'],
  ...simulated.flatMap(({ name, ways }) =>
    ways.map(({ place, heat }, index) => [
      index === 0 ? name : '',
      place,
      units(heat.reads),
      units(heat.writes),
      money(heat.dollars),
      units(heat.bytes / 1000),
      rate(heat.hottest.most),
      describe(heat.hottest),
    ]),
  ),
];

export function readLoad(flags: SimulateFlags): Load {
  const flagOf = (name: Rate): string => `--${name.replace('T', '-t')}`;
  const asked = rates.map(name => [name, readRate(flagOf(name), flags[name])] as const);
  const users = readNumber('--users', flags.users) ?? usualUsers;
  const tenants = readNumber('--tenants', flags.tenants) ?? Math.ceil(users / usersPerTenant);
  const storedGb = readNumber('--stored', flags.stored);
  return {
    users,
    tenants,
    ...(storedGb !== undefined && { storedGb }),
    ...(flags.servers !== undefined && { servers: readNumber('--servers', flags.servers) }),
    rates: new Map(asked.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))),
  };
}

export function planText(
  { rows, background, keys, storageDollars, dollars }: Plan,
  { users, tenants, storedGb = 0 }: Load,
): string {
  const costs = tableText([
    ['operation', 'a second', 'write units', 'read units', 'spread over at least', 'GB a month', '$ a month'],
    ...rows.map(row => [
      row.name,
      rate(row.perSecond),
      rate(row.writes),
      rate(row.reads),
      row.spread.map(({ place, count }) => `${rate(count)} × ${place}`).join(', '),
      rate(row.gbPerMonth),
      money(row.dollars),
    ]),
    ...background.map(row => [row.name, '', rate(row.writes), rate(row.reads), '', '', money(row.dollars)]),
    ...(storageDollars === undefined
      ? []
      : [[`${rate(storedGb)} GB stored`, '', '', '', '', '', money(storageDollars)]]),
    ['all of it', '', '', '', '', '', money(dollars)],
  ]);
  const warmest = tableText([
    ['table or index', 'key', 'kind', 'partitions', 'units a second each', 'of what one can take'],
    ...keys
      .slice(0, keysShown)
      .map(({ where, key, kind, partitions, unitsEach, share }) => [
        where,
        key,
        kind,
        rate(partitions),
        few(unitsEach),
        share < 0.001 ? '< 0.1 %' : `${units(share * 100)} %`,
      ]),
  ]);
  const load = `with ${rate(users)} users of ${rate(tenants)} ${tenants === 1 ? 'tenant' : 'tenants'}, evenly`;
  return `${costs}\n\nThe warmest keys, ${load}:\n\n${warmest}`;
}

const describe = ({ kind, where, key, units: each }: Hottest): string =>
  `${few(each)} ${kind} units of ${where} ${key}`;

const units = (value: number): string => (Math.round(value * 10) / 10).toLocaleString('en');
const few = (value: number): string => (value < 0.1 ? '< 0.1' : units(value));
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

function readNumber(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (number >= 1 && Number.isFinite(number)) return Math.round(number);
  throw new UsageError(`${name} needs a number, as 1e9, not ${JSON.stringify(value)}`);
}
