import type { CAC } from 'cac';
import { declareActions, runAction } from '../action.ts';
import type { actions, InboxFlags } from './inbox-actions.ts';

export function registerInbox(cli: CAC): void {
  declareActions<keyof typeof actions>(cli, 'inbox <action> [id]', 'Messages to users', {
    send: 'Send a message to users',
    broadcast: 'Send a message to everyone',
    list: 'List the inboxes of a tenant; with --inbox its sends; with --user the messages of a user',
    read: 'Mark a message as read, or all with --all',
    tail: 'Follow the inbox of a user as it changes',
    redact: 'Redact a message for all recipients',
    receipts: 'List the recipients of a message, and when they read it',
    delete: 'Delete an inbox and everything in it',
  })
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--tenant <id>', 'The tenant of the inbox')
    .option('--inbox <key>', 'The inbox (list: omit to list all)')
    .option('--user <uid>', 'list, read, tail: the user; `me` with the token of a user')
    .option('--to <uids>', 'send: the recipients, separated by commas')
    .option('--title <text>', 'send, broadcast: the title')
    .option('--body <text>', 'send, broadcast: the body, as text')
    .option('--data <json>', 'send, broadcast: the body, as JSON')
    .option('--category <key>', 'send, broadcast, list, read --all: the category')
    .option('--ttl <duration>', 'send, broadcast: how long it is kept, such as 30d or 12h')
    .option('--at <time>', 'send, broadcast: when to send it (default: now)')
    .option(
      '--host-id <id>',
      'send, broadcast: your own id, which prevents duplicates; redact: use it instead of our id',
    )
    .option('--unread', 'list: only unread messages; receipts: only recipients who have not read it')
    .option('--all', 'read: all messages; delete: with everything in it')
    .option('--limit <number>', 'list, receipts: the maximum number (default: 20)')
    .option('--json', 'list, receipts, tail: print JSON')
    .example('stak inbox send --tenant acme --inbox news --to ann,bob --title "Hello" --body "How are you?"')
    .example('stak inbox list --tenant acme --inbox news --user ann --unread')
    .example('stak inbox tail --tenant acme --inbox news --user ann')
    .action(async (action: string, id: string | undefined, flags: InboxFlags) => {
      const { actions } = await import('./inbox-actions.ts');
      await runAction('inbox', actions, action, flags, id);
    });
}
