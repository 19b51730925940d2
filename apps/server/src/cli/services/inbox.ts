import { defineCommand, serverOption } from '../action.ts';

export const options = {
  ...serverOption,
  '--tenant <id>': 'The tenant of the inbox',
  '--inbox <key>': 'The inbox (list: omit to list all)',
  '--user <uid>': 'list, read, tail: the user; `me` with the token of a user',
  '--to <uids>': 'send: the recipients, separated by commas',
  '--title <text>': 'send, broadcast: the title',
  '--body <text>': 'send, broadcast: the body, as text',
  '--data <json>': 'send, broadcast: the body, as JSON',
  '--category <key>': 'send, broadcast, list, read --all: the category',
  '--ttl <duration>': 'send, broadcast: how long it is kept, such as 30d or 12h',
  '--at <time>': 'send, broadcast: when to send it (default: now)',
  '--host-id <id>':
    'send, broadcast: your own id, which prevents duplicates; redact: use it instead of our id',
  '--unread': 'list: only unread messages; receipts: only recipients who have not read it',
  '--all': 'read: all messages; delete: with everything in it',
  '--limit <number>': 'list, receipts: the maximum number (default: 20)',
  '--json': 'list, receipts, tail: print JSON',
} as const;

export const registerInbox = defineCommand('inbox <action> [id]', {
  title: 'Messages to users',
  actions: {
    send: 'Send a message to users',
    broadcast: 'Send a message to everyone',
    list: 'List the inboxes of a tenant; with --inbox its sends; with --user the messages of a user',
    read: 'Mark a message as read, or all with --all',
    tail: 'Follow the inbox of a user as it changes',
    redact: 'Redact a message for all recipients',
    receipts: 'List the recipients of a message, and when they read it',
    delete: 'Delete an inbox and everything in it',
  },
  options,
  examples: [
    'stak inbox send --tenant acme --inbox news --to ann,bob --title "Hello" --body "How are you?"',
    'stak inbox list --tenant acme --inbox news --user ann --unread',
    'stak inbox tail --tenant acme --inbox news --user ann',
  ],
  load: () => import('./inbox-actions.ts'),
});
