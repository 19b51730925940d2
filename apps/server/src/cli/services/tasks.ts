import { defineCommand, serverOption } from '../action.ts';

export const options = {
  ...serverOption,
  '--due <date>': 'add: the due date, such as 2026-12-01',
  '--priority <priority>': 'add: low, medium, high or urgent',
  '--category <name>': 'add: the category',
  '--label <names>': 'add: labels, separated by commas',
  '--description <text>': 'add: the description',
  '--filter <terms>': 'list: a filter, such as "status:pending due<2026-12-01 category:work"',
  '--all': 'list: include completed tasks',
  '--limit <number>': 'list, search: the maximum number (default: 50)',
  '--format <format>': 'export: json or csv (default: json)',
  '--out <file>': 'export: the file to write to (default: standard output)',
  '--json': 'list, search: print JSON',
} as const;

export const registerTasks = defineCommand('tasks <action> [text]', {
  title: 'Your tasks',
  actions: {
    add: 'Create a task and print its id',
    list: 'List open tasks',
    done: 'Complete a task, by its id',
    search: 'Search by words, prefixes or similar words',
    export: 'Export all tasks as JSON or CSV',
  },
  options,
  examples: [
    'stak tasks add "Call Ann" --due 2026-12-01 --priority high',
    'stak tasks list --filter "is:overdue"',
    'stak tasks done tsk_0mwhdlltm00iqb4e1zqzc3by',
  ],
  load: () => import('./tasks-actions.ts'),
});
