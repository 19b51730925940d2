import type { CAC } from 'cac';
import type { ConnectFlags } from '../connection.ts';

export function registerMcp(cli: CAC): void {
  cli
    .command('mcp', 'Let an assistant use this server, over standard input and output')
    .option('--url <url>', 'The server (default: the last one signed in to)')
    .example('stak mcp')
    .action(async (flags: ConnectFlags) => {
      const { serveMcp } = await import('./mcp-actions.ts');
      await serveMcp(flags);
    });
}
