import type { CAC } from 'cac';
import type { ChatFlags } from './chat-actions.ts';

export function registerChat(cli: CAC): void {
  cli
    .command('chat [...message]', 'Talk to an agent: one message, from a pipe, or line by line')
    .option('--url <url>', 'The server (default: that of this folder, or the last one signed in to)')
    .option('--tenant <id>', 'The tenant of the agent')
    .option('--user <id>', 'The user to chat as; `me` with the token of a user')
    .option('--conversation <id>', 'The conversation to continue (default: a new one)')
    .option('--agent <name>', 'The agent of a new conversation (default: that of the tenant)')
    .example('stak chat --tenant acme --user ann')
    .example('stak chat --tenant acme --user ann "How is the sprint?"')
    .example('stak chat --tenant acme --user ann --conversation first < question.txt')
    .action(async (words: string[], flags: ChatFlags) => {
      const { chat } = await import('./chat-actions.ts');
      await chat(flags, words.join(' '));
    });
}
