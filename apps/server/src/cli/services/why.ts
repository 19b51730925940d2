import type { CAC } from 'cac';
import { UsageError } from '../../config/errors.ts';
import { serverOption } from '../action.ts';

type Flags = { url?: unknown; json?: unknown };

export function registerWhy(cli: CAC): void {
  cli
    .command('why [id]', 'Explain why something happened, and what followed')
    .option('--url <url>', serverOption['--url <url>'])
    .option('--json', 'Print JSON')
    .example('stak why evt_0mjuxvy9s00b8f0k3x1q2w4e')
    .example('stak why tsk_0mjuxvy9s00b8f0k3x1q2w4f')
    .example('stak why message:acme/news/0mjuxvy9s00b8f0k3x1q2w4g')
    .action(async (id: string | undefined, flags: Flags) => {
      if (id === undefined) throw new UsageError('why what? for example: stak why evt_…');
      const { why } = await import('./why-action.ts');
      await why(flags, id);
    });
}
