import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, TaskFlags } from './tasks-actions.ts';

export function registerTasks(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'tasks <action> [text]', 'Your tasks', {
    add: 'A new one; prints its id',
    list: 'Those that are open',
    done: 'Complete one, by its id',
    search: 'By words, their beginnings, or nearly them',
    export: 'All of them, as JSON or CSV',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--due <date>', 'add: when it is due, like 2026-12-01')
    .option('--priority <priority>', 'add: low, medium, high or urgent')
    .option('--category <name>', 'add: what it belongs to')
    .option('--label <names>', 'add: labels, with commas in between')
    .option('--description <text>', 'add: more about it')
    .option('--filter <terms>', 'list: like "status:pending due<2026-12-01 category:work"')
    .option('--all', 'list: those that are done as well')
    .option('--limit <number>', 'list, search: at most so many (default: 50)')
    .option('--format <format>', 'export: json or csv (default: json)')
    .option('--out <file>', 'export: where to write it (default: here)')
    .option('--json', 'list, search: everything there is to know')
    .example('stak tasks add "Call Ann" --due 2026-12-01 --priority high')
    .example('stak tasks list --filter "is:overdue"')
    .example('stak tasks done tsk_0mwhdlltm00iqb4e1zqzc3by')
    .action(async (action: string, text: string | undefined, flags: TaskFlags) => {
      const { actions } = await import('./tasks-actions.ts');
      await runAction('tasks', actions, action, flags, text);
    });
}
