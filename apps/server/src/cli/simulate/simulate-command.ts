import type { CAC } from 'cac';
import type { SimulateFlags } from './simulate-action.ts';

export function registerSimulate(cli: CAC): void {
  cli
    .command(
      'simulate',
      'Estimate what the designs cost on DynamoDB, and where they break: units, hottest partitions, money',
    )
    .option('--users <number>', 'The number of users, such as 1e9 (default: 1e6)')
    .option('--tenants <number>', 'The number of tenants (default: one per 1,000 users)')
    .option('--webhooks-due-shards <number>', 'STAK_WEBHOOKS_DUE_SHARDS of the servers (default: 8)')
    .option('--agents-due-shards <number>', 'STAK_AGENTS_DUE_SHARDS of the servers (default: 4)')
    .option('--events <rate>', 'Events received and delivered per second, such as 10000/s or 1e4')
    .option('--publishes <rate>', 'Messages published')
    .option('--feeds <rate>', 'Feeds read')
    .option('--marks <rate>', 'Messages marked as read')
    .option('--turns <rate>', 'Messages to agents that a rule answers')
    .option(
      '--model-turns <rate>',
      'Messages to agents that a model answers; the model itself is not included',
    )
    .option('--tasks <rate>', 'Tasks created')
    .option('--servers <number>', 'The number of servers (default: 3)')
    .option('--stored <gigabytes>', 'What tables and indexes keep, for its price')
    .option('--measure', 'Run a server in memory and measure again, instead of using the stored measurements')
    .option(
      '--operations <number>',
      'measure: the number of quiet accounts; a busy one does eight times as much (default: 48)',
    )
    .option('--json', 'Print JSON')
    .example('stak simulate')
    .example('stak simulate --users 1e9 --publishes 5e4/s --stored 2000')
    .action(async (flags: SimulateFlags) => {
      const { simulateDesigns } = await import('./simulate-action.ts');
      await simulateDesigns(flags);
    });
}
