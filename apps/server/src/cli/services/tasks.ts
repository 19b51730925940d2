import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, TaskFlags } from './tasks-actions.ts';

export function registerTasks(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'tasks <action> [text]', 'Your tasks', {
    add: 'Create a task and print its id',
    list: 'List open tasks',
    done: 'Complete a task, by its id',
    search: 'Search by words, prefixes or similar words',
    export: 'Export all tasks as JSON or CSV',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--due <date>', 'add: the due date, such as 2026-12-01')
    .option('--priority <priority>', 'add: low, medium, high or urgent')
    .option('--category <name>', 'add: the category')
    .option('--label <names>', 'add: labels, separated by commas')
    .option('--description <text>', 'add: the description')
    .option('--filter <terms>', 'list: a filter, such as "status:pending due<2026-12-01 category:work"')
    .option('--all', 'list: include completed tasks')
    .option('--limit <number>', 'list, search: the maximum number (default: 50)')
    .option('--format <format>', 'export: json or csv (default: json)')
    .option('--out <file>', 'export: the file to write to (default: standard output)')
    .option('--json', 'list, search: print JSON')
    .example('stak tasks add "Call Ann" --due 2026-12-01 --priority high')
    .example('stak tasks list --filter "is:overdue"')
    .example('stak tasks done tsk_0mwhdlltm00iqb4e1zqzc3by')
    .action(async (action: string, text: string | undefined, flags: TaskFlags) => {
      const { actions } = await import('./tasks-actions.ts');
      await runAction('tasks', actions, action, flags, text);
    });
}
