import { defineCommand, serverOption } from '../action.ts';

export const options = {
  ...serverOption,
  '--source <source>': 'The source, by name or id',
  '--create <name>': 'sources, connections: create one with this name',
  '--provider <provider>': 'sources --create: the sender, such as stripe or github (default: custom)',
  '--secret <secret>': 'sources --create: the signing secret; unsigned requests are then refused',
  '--destination <url>': 'connections --create: the URL to deliver to',
  '--status <status>': 'events, replay: a status, such as failed or delivered',
  '--text <text>': 'events: a text in the headers or the body',
  '--from <time>': 'events, replay, whatif: from this time',
  '--to <time>': 'events, replay, whatif: until this time',
  '--connection <ids>': 'replay: to these connections only; whatif: the one whose rules are compared',
  '--rules <file>': 'whatif: a JSON file with filters and transform',
  '--since <time>': 'whatif: events of the last 7d, 12h or 30m',
  '--save': 'whatif: give these rules to the connection',
  '--replay': 'whatif: after saving, deliver again what differs',
  '--all': 'replay: every event of the source',
  '--forward <url>': 'listen: the URL on this machine to forward to',
  '--limit <number>': 'events: the maximum number (default: 20)',
  '--json': 'Print JSON',
} as const;

export const registerHooks = defineCommand('hooks <action> [id]', {
  title: 'Webhooks',
  actions: {
    sources: 'List sources, the addresses that receive webhooks; --create adds one',
    connections: 'List the connections of a source; --create adds one',
    events: 'List events, newest first; with an id, show one event',
    replay: 'Deliver one event again by its id, or those of a source',
    whatif: 'Run stored events through other rules, and see which would be sent otherwise',
    tail: 'Follow the events of a source as they arrive',
    listen: 'Forward the events of a source to a server on this machine',
  },
  options,
  examples: [
    'stak hooks sources --create shop --provider stripe --secret whsec_…',
    'stak hooks listen --source shop --forward http://localhost:3000/webhooks',
    'stak hooks replay --source shop --status failed',
    'stak hooks whatif --source shop --connection con_… --rules new.json --since 7d',
  ],
  load: () => import('./hooks-actions.ts'),
});
