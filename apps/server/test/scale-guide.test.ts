import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { withDueShards } from '../src/cli/simulate/due-shards.ts';
import { perPartition } from '../src/cli/simulate/heat.ts';
import { type Plan, planLoad } from '../src/cli/simulate/load.ts';
import measured from '../src/cli/simulate/measured.json' with { type: 'json' };
import type { Simulated } from '../src/cli/simulate/simulate.ts';
import { planText, readDueShards, readLoad } from '../src/cli/simulate/simulate-action.ts';
import { beatMs, lookAgainMs } from '../src/store/presence.ts';

// Every figure of docs/guides/scale.md is worked out again, from what this version was measured with.

const stored = measured as Simulated[];
const guide = await readFile(new URL('../../../docs/guides/scale.md', import.meta.url), 'utf8');

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const dollars = (value: number): string => `$${whole(value)}`;
const percent = (share: number): string => `${Math.round(share * 100)} %`;

// Blocks of a command and what it prints.
const blocks = [...guide.matchAll(/^```\n(stak simulate (.+))\n\n([\s\S]+?)\n```$/gm)].map(
  ([, command, options, output]) => {
    const flags = Object.fromEntries(
      [...options!.matchAll(/--([a-z-]+) (\S+)/g)].map(([, name, value]) => [
        name!.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        value,
      ]),
    );
    const load = readLoad(flags);
    return {
      command: command!,
      output: output!,
      load,
      plan: planLoad(withDueShards(stored, readDueShards(flags)), load),
    };
  },
);

test.each(blocks)('$command prints what the guide shows', ({ output, plan, load }) => {
  expect(output).toBe(planText(plan, load));
});

const writesOf = ({ rows }: Plan): number => rows.reduce((sum, { writes }) => sum + writes, 0);

test('the overview is that of the loads below it', () => {
  const rows = blocks.map(({ load, plan }) => {
    const [warmest] = plan.keys;
    const idle = plan.background.reduce((sum, row) => sum + row.dollars, 0);
    const cells = [
      whole(load.servers!),
      whole(load.tenants),
      whole(load.users),
      whole(writesOf(plan)),
      dollars(plan.dollars),
      dollars(idle),
      `\`${warmest!.key}\` of \`${warmest!.where}\`, ${percent(warmest!.share)}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  expect(blocks).toHaveLength(5);
  for (const row of rows) expect(guide).toContain(`${row}\n`);
});

const heatOf = (name: string, scope: string, shards = {}) => {
  const found = withDueShards(stored, readDueShards(shards)).find(one => one.name === name);
  return found!.ways.find(way => way.place === scope)!.heat;
};
const most = (name: string, scope: string, shards = {}): number => heatOf(name, scope, shards).hottest.most;
// As many operations as the quota of a table allows, its indexes included.
const quota = 40_000;
const withinQuota = (name: string): number => {
  const tables = new Map<string, number>();
  for (const { where, kind, units } of heatOf(name, 'everywhere').keys)
    if (kind === 'write') {
      const table = where.split('/')[0]!;
      tables.set(table, (tables.get(table) ?? 0) + units);
    }
  return quota / Math.max(...tables.values());
};

const event = 'event received and delivered';
const publish = 'message published to one user';
const ruleTurn = 'message to an agent answered by a rule';
const modelTurn = 'message to an agent answered by a model';
const task = 'task created by a user';

const limits: readonly (readonly [what: string, perSecond: number])[] = [
  ['turns of one tenant that a model answers', most(modelTurn, 'one tenant')],
  ['new users of one inbox', most(publish, 'one inbox, new users')],
  ['turns of one tenant that a rule answers', most(ruleTurn, 'one tenant')],
  ['first tasks of users of one tenant', most(task, 'one tenant, new users')],
  ['turns that a model answers, of all tenants', most(modelTurn, 'everywhere')],
  ['the same with 32 shards', most(modelTurn, 'everywhere', { agentsDueShards: 32 })],
  ['messages of one inbox that are marked as read', most('messages marked as read by a user', 'one inbox')],
  ['events of one source', most(event, 'one source')],
  ['feeds that users of one tenant read', most('feed read by a user', 'one inbox')],
  ['tasks of one tenant', most(task, 'one tenant')],
  ['events of all accounts', most(event, 'everywhere')],
  ['the same with 256 shards', most(event, 'everywhere', { webhooksDueShards: 256 })],
  ['messages to one inbox', most(publish, 'one inbox')],
  ['messages within the quota of a table', withinQuota(publish)],
  ['events within the quota of a table', withinQuota(event)],
];

test('the limits are those of the measurements', () => {
  for (const [what, perSecond] of limits) expect(guide).toContain(`| ${what} | ${whole(perSecond)} |`);
  const listed = guide.match(/^\| [a-z][^|]+ \| [\d,]+ \| /gm)!.map(row => row.split(' | ')[0]!.slice(2));
  expect(listed).toEqual(limits.map(([what]) => what));
});

test('one large tenant is as many as its warmest key needs, and its users come as fast as they can', () => {
  const { plan, load } = blocks.at(-1)!;
  expect(load).toMatchObject({ tenants: 1, users: 1e7 });
  expect(guide).toContain(`${Math.ceil(plan.keys[0]!.share)} tenants for this customer`);
  const newUsers = most(publish, 'one inbox, new users');
  expect(guide).toContain(
    `at ${whole(newUsers)} new users a second it takes ${whole(load.users / newUsers / 3600)} hours`,
  );
});

test('the number of servers has the limits of their reports', () => {
  // A report every two seconds is a write unit.
  expect(guide).toContain(`${whole((perPartition.write * beatMs) / 1000)} servers write`);
  let many = 1;
  while (lookAgainMs(many) <= beatMs) many += 1;
  expect(guide).toContain(`From ${many} servers on, each of them looks less often`);
  const looksMs = lookAgainMs(1000);
  expect(guide).toContain(`up to ${Math.ceil((looksMs + 8_500) / 1000)} seconds among a thousand`);
});
