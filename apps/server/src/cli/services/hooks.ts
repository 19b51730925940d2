import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, HookFlags } from './hooks-actions.ts';

export function registerHooks(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'hooks <action> [id]', 'Webhooks', {
    sources: 'List sources, the addresses that receive webhooks; --create adds one',
    connections: 'List the connections of a source; --create adds one',
    events: 'List events, newest first; with an id, show one event',
    replay: 'Deliver one event again by its id, or those of a source',
    tail: 'Follow the events of a source as they arrive',
    listen: 'Forward the events of a source to a server on this machine',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--source <source>', 'The source, by name or id')
    .option('--create <name>', 'sources, connections: create one with this name')
    .option(
      '--provider <provider>',
      'sources --create: the sender, such as stripe or github (default: custom)',
    )
    .option('--secret <secret>', 'sources --create: the signing secret; unsigned requests are then refused')
    .option('--destination <url>', 'connections --create: the URL to deliver to')
    .option('--status <status>', 'events, replay: a status, such as failed or delivered')
    .option('--text <text>', 'events: a text in the headers or the body')
    .option('--from <time>', 'events, replay: from this time')
    .option('--to <time>', 'events, replay: until this time')
    .option('--connection <ids>', 'replay: to these connections only')
    .option('--all', 'replay: every event of the source')
    .option('--forward <url>', 'listen: the URL on this machine to forward to')
    .option('--limit <number>', 'events: the maximum number (default: 20)')
    .option('--json', 'Print JSON')
    .example('stak hooks sources --create shop --provider stripe --secret whsec_…')
    .example('stak hooks listen --source shop --forward http://localhost:3000/webhooks')
    .example('stak hooks replay --source shop --status failed')
    .action(async (action: string, id: string | undefined, flags: HookFlags) => {
      const { actions } = await import('./hooks-actions.ts');
      await runAction('hooks', actions, action, flags, id);
    });
}
