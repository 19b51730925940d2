import type { CAC } from 'cac';
import type { SimulateFlags } from './simulate-action.ts';

export function registerSimulate(cli: CAC): void {
  cli
    .command(
      'simulate',
      'What the designs cost and where they break on DynamoDB: units, hottest partitions, money',
    )
    .option('--operations <number>', 'How often each thing is done in the simulation (default: 48)')
    .option('--events <rate>', 'Events received and delivered in a second, as 10000/s or 1e4')
    .option('--publishes <rate>', 'Messages published')
    .option('--feeds <rate>', 'Feeds read')
    .option('--marks <rate>', 'Messages marked as read')
    .option('--turns <rate>', 'Messages to agents')
    .option('--tasks <rate>', 'Tasks created')
    .option('--json', 'Print what was measured as JSON')
    .example('stak simulate')
    .example('stak simulate --events 1e4/s --publishes 5e4/s')
    .action(async (flags: SimulateFlags) => {
      const { simulateDesigns } = await import('./simulate-action.ts');
      await simulateDesigns(flags);
    });
}
