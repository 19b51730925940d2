import type { CAC } from 'cac';
import type { ConnectFlags } from '../connection.ts';

export function registerMcp(cli: CAC): void {
  cli
    .command('mcp', 'Serve MCP over standard input and output, for assistants')
    .option('--url <url>', 'The server (default: the last one signed in to)')
    .example('stak mcp')
    .action(async (flags: ConnectFlags) => {
      const { serveMcp } = await import('./mcp-actions.ts');
      await serveMcp(flags);
    });
}
