import { defineCommand, serverOption } from '../action.ts';

export const options = {
  ...serverOption,
  '--tenant <id>': 'The tenant of the agents',
  '--file <file>': 'save: the definition as JSON (default: from a pipe)',
  '--note <text>': 'publish: what is new',
  '--version <number>': 'show: a version; rollback: the version that answers again',
  '--json': 'list, versions: print JSON',
} as const;

export const registerAgents = defineCommand('agents <action> [name]', {
  title: 'The agents of a tenant',
  actions: {
    list: 'List agents and the versions that answer',
    show: 'Print the draft of an agent, or a version, as JSON',
    save: 'Save a draft; nothing changes until it is published',
    differences: 'Compare the draft with the version that answers',
    publish: 'Make the draft the version that answers',
    rollback: 'Have an earlier version answer again',
    versions: 'List versions, newest first',
    delete: 'Delete an agent with its versions',
  },
  options,
  examples: [
    'stak agents show support --tenant acme > support.json',
    'stak agents save support --tenant acme --file support.json',
    'stak agents publish support --tenant acme --note "Kinder"',
    'stak agents rollback support --tenant acme --version 3',
  ],
  load: () => import('./agents-actions.ts'),
});
