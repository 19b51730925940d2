import { cac } from 'cac';
import manifest from '../package.json' with { type: 'json' };
import { registerChat } from './commands/chat.ts';
import { registerDynamoDb } from './commands/dynamodb.ts';
import { registerHooks } from './commands/hooks.ts';
import { registerInbox } from './commands/inbox.ts';
import { registerKeys } from './commands/keys.ts';
import { registerLake } from './commands/lake.ts';
import { registerLogin } from './commands/login.ts';
import { registerStart } from './commands/start.ts';
import { registerStreams } from './commands/streams.ts';
import { registerTables } from './commands/tables.ts';
import { registerTasks } from './commands/tasks.ts';
import { registerTenants } from './commands/tenants.ts';
import { explain, UsageError } from './errors.ts';

async function main(argv: string[]): Promise<void> {
  const cli = cac('stak');
  registerStart(cli);
  registerLogin(cli);
  registerKeys(cli);
  registerTenants(cli);
  registerInbox(cli);
  registerHooks(cli);
  registerTasks(cli);
  registerLake(cli);
  registerChat(cli);
  registerDynamoDb(cli);
  registerTables(cli);
  registerStreams(cli);
  cli.help();
  cli.version(manifest.version);
  cli.parse(argv, { run: false });
  if (cli.options.help || cli.options.version) return;
  if (cli.matchedCommand) await cli.runMatchedCommand();
  else if (cli.args.length === 0) cli.outputHelp();
  else throw new UsageError(`there is no command ${JSON.stringify(cli.args[0])}; see stak --help`);
}

try {
  await main(process.argv);
} catch (error) {
  console.error(`stak: ${explain(error)}`);
  process.exitCode = 1;
}
