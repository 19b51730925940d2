import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, HookFlags } from './hooks-actions.ts';

export function registerHooks(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'hooks <action> [id]', 'Webhooks', {
    sources: 'Addresses that take webhooks; --create makes one',
    connections: 'Where a source delivers to; --create makes one',
    events: 'What came in, newest first; with an id, everything about one event',
    replay: 'Deliver again: one event by its id, or those of a source',
    tail: 'Follow the events of a source as they come in',
    listen: 'Send the events of a source on to a server on this machine',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--source <source>', 'Which source: its name or its id')
    .option('--create <name>', 'sources, connections: make one of this name')
    .option('--provider <provider>', 'sources --create: who sends, like stripe or github (default: custom)')
    .option('--secret <secret>', 'sources --create: what the provider signs with; the rest is then refused')
    .option('--destination <url>', 'connections --create: where it delivers to')
    .option('--status <status>', 'events, replay: like failed or delivered')
    .option('--text <text>', 'events: what headers or body contain')
    .option('--from <time>', 'events, replay: not before')
    .option('--to <time>', 'events, replay: not after')
    .option('--connection <ids>', 'replay: to these connections only')
    .option('--all', 'replay: every event of the source')
    .option('--forward <url>', 'listen: where on this machine the events go')
    .option('--limit <number>', 'events: at most so many (default: 20)')
    .option('--json', 'Everything there is to know')
    .example('stak hooks sources --create shop --provider stripe --secret whsec_…')
    .example('stak hooks listen --source shop --forward http://localhost:3000/webhooks')
    .example('stak hooks replay --source shop --status failed')
    .action(async (action: string, id: string | undefined, flags: HookFlags) => {
      const { actions } = await import('./hooks-actions.ts');
      await runAction('hooks', actions, action, flags, id);
    });
}
