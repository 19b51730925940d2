import type { CAC, Command } from 'cac';
import { distance } from '../config/spelling.ts';
import { actionsOf, exitCodesOf } from './action.ts';

type Section = { title?: string; body: string };

// Related commands, in the order in which a new user meets them.
const groups: Readonly<Record<string, readonly string[]>> = {
  'Run it': ['start', 'demo'],
  'Sign in': ['login', 'logout', 'whoami', 'me', 'keys', 'audit'],
  'Use it': [
    'tenants',
    'tokens',
    'inbox',
    'hooks',
    'tasks',
    'chat',
    'agents',
    'models',
    'mcp',
    'lake',
    'why',
  ],
  'Look after it': [
    'accounts',
    'tables',
    'streams',
    'storage',
    'secrets',
    'dynamodb',
    'backup',
    'restore',
    'export',
    'import',
    'migrate',
    'aws',
  ],
  'In your shell': ['completion'],
};

const firstSteps = [
  ['stak start', 'then open http://127.0.0.1:8787'],
  ['stak demo --for 5m', 'and watch the console move'],
  ['stak login --signup --email you@example.com', 'an account of your own'],
] as const;

const variables = [
  ['STAK_URL', 'The server that commands talk to, where none runs in ./data or STAK_DATA'],
  ['STAK_TOKEN', 'An API key to talk with, instead of stak login'],
] as const;

// The sections of a help page, reworded from cac's.
export function shapeHelp(cli: CAC, sections: readonly Section[]): Section[] {
  const command = cli.matchedCommand;
  return command ? commandHelp(command, sections) : overallHelp(cli, sections);
}

function overallHelp({ commands }: CAC, sections: readonly Section[]): Section[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const listed = (title: string, isIn: (name: string) => boolean, order: readonly string[] = []) => {
    const matching = commands.filter(({ name }) => isIn(name));
    matching.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
    const body = columns(
      matching.map(({ name, description }) => [name, description]),
      width,
    );
    return matching.length === 0 ? [] : [{ title, body }];
  };
  const grouped = new Set(Object.values(groups).flat());
  return [
    { body: 'Stak: webhooks, inboxes, tasks and agents on DynamoDB, on this machine or on AWS.' },
    { title: 'Usage', body: '  stak <command> [options]' },
    ...Object.entries(groups).flatMap(([title, names]) => listed(title, name => names.includes(name), names)),
    ...listed('More', name => !grouped.has(name)),
    { title: 'First steps', body: columns(firstSteps) },
    { title: 'Variables (the server has its own: .env.example)', body: columns(variables) },
    ...tidy(sections.filter(({ title }) => title === 'Options')),
    { body: 'Run stak <command> --help for details.' },
  ];
}

function commandHelp(command: Command, sections: readonly Section[]): Section[] {
  const actions = actionsOf(command);
  const codes = exitCodesOf(command);
  const [, ...rest] = sections; // without the version
  return [
    { body: `${command.description}.` },
    ...rest.slice(0, 1),
    ...(actions ? [{ title: 'Actions', body: columns(Object.entries(actions)) }] : []),
    ...tidy(rest.slice(1)),
    ...(codes ? [{ title: 'Exit codes', body: columns(Object.entries(codes)) }] : []),
  ];
}

const tidy = (sections: readonly Section[]): Section[] =>
  sections.map(({ title, body }) => ({
    title,
    body: body
      .split('\n')
      // cac takes an option that can be negated for one that is on by default.
      .map(line => (/^ +--no-/.test(line) ? line.replace(' (default: true)', '') : line).trimEnd())
      .map(line => (title === 'Examples' ? `  ${line}` : line))
      .join('\n'),
  }));

function columns(rows: readonly (readonly [string, string])[], least = 0): string {
  const width = Math.max(least, ...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
}

// The command that was probably meant: one that starts the same, or differs by a letter or two.
export function guessCommand(cli: CAC, given: string): string | undefined {
  const names = cli.commands.map(({ name }) => name);
  return (
    names.find(name => given.length > 1 && (name.startsWith(given) || given.startsWith(name))) ??
    names.find(name => distance(name, given) <= 2)
  );
}
