import type { CAC } from 'cac';
import type { DemoFlags } from './demo-actions.ts';

export function registerDemo(cli: CAC): void {
  cli
    .command('demo', 'Fill the demo workspace with the story of a shop, at once or live')
    .option('--url <url>', 'The server, on this machine (default: the one running in the folder)')
    .option('--path <folder>', 'The data folder of that server (default: STAK_DATA, or ./data)')
    .option('--pace <number>', 'Continue live, with this many events a minute (default: 40 with --for)')
    .option(
      '--for <duration>',
      'Continue live for this long, like 90s, 10m or 1h (default: until Ctrl-C with --pace)',
    )
    .option('--seed <number>', 'Another number tells another story (default: 1)')
    .example('stak demo')
    .example('stak demo --for 5m')
    .example('stak demo --pace 120 --seed 7')
    .action(async (flags: DemoFlags) => {
      const { demo } = await import('./demo-actions.ts');
      await demo(flags);
    });
}
