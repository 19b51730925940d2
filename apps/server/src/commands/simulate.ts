import type { CAC } from 'cac';
import type { SimulateFlags } from './simulate-action.ts';

export function registerSimulate(cli: CAC): void {
  cli
    .command(
      'simulate',
      'What the designs cost and where they break on DynamoDB: units, hottest partitions, money',
    )
    .option('--users <number>', 'Users, as 1e9 (default: 1e6)')
    .option('--tenants <number>', 'Tenants that the users belong to (default: one for 1,000 users)')
    .option('--events <rate>', 'Events received and delivered in a second, as 10000/s or 1e4')
    .option('--publishes <rate>', 'Messages published')
    .option('--feeds <rate>', 'Feeds read')
    .option('--marks <rate>', 'Messages marked as read')
    .option('--turns <rate>', 'Messages to agents')
    .option('--tasks <rate>', 'Tasks created')
    .option(
      '--measure',
      'Run a server in memory and measure anew, instead of what this version was measured with',
    )
    .option('--operations <number>', 'How often each thing is done when it is measured (default: 48)')
    .option('--json', 'Print it as JSON')
    .example('stak simulate')
    .example('stak simulate --users 1e9 --publishes 5e4/s')
    .action(async (flags: SimulateFlags) => {
      const { simulateDesigns } = await import('./simulate-action.ts');
      await simulateDesigns(flags);
    });
}
