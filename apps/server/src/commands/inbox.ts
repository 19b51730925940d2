import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, InboxFlags } from './inbox-actions.ts';

export function registerInbox(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'inbox <action> [id]', 'Messages to users', {
    send: 'A message to some users',
    broadcast: 'A message to everyone',
    list: 'The inboxes of a tenant; with --inbox what was sent; with --user what a user has',
    read: 'Mark a message as read, or all with --all',
    tail: 'Follow the inbox of a user as it changes',
    redact: 'Take a message back from everybody',
    receipts: 'Who got a message, and when they read it',
    delete: 'Delete an inbox with everything in it',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--tenant <id>', 'Whose inbox it is')
    .option('--inbox <key>', 'Which inbox (list: leave it out to see all)')
    .option('--user <uid>', 'list, read, tail: which user; `me` with the token of a user')
    .option('--to <uids>', 'send: to whom, with commas in between')
    .option('--title <text>', 'send, broadcast: the title')
    .option('--body <text>', 'send, broadcast: the body, as a text')
    .option('--data <json>', 'send, broadcast: the body, as JSON')
    .option('--category <key>', 'send, broadcast, list, read --all: the category')
    .option('--ttl <duration>', 'send, broadcast: how long it is there, like 30d or 12h')
    .option('--at <time>', 'send, broadcast: when, if not now')
    .option('--host-id <id>', 'send, broadcast: an id of your own, taken once; redact: instead of our id')
    .option('--unread', 'list: what the user has not read; receipts: who has not read it')
    .option('--all', 'read: everything; delete: with everything in it')
    .option('--limit <number>', 'list, receipts: at most so many (default: 20)')
    .option('--json', 'list, receipts, tail: everything there is to know')
    .example('stak inbox send --tenant acme --inbox news --to ann,bob --title "Hello" --body "How are you?"')
    .example('stak inbox list --tenant acme --inbox news --user ann --unread')
    .example('stak inbox tail --tenant acme --inbox news --user ann')
    .action(async (action: string, id: string | undefined, flags: InboxFlags) => {
      const { actions } = await import('./inbox-actions.ts');
      await runAction('inbox', actions, action, flags, id);
    });
}
