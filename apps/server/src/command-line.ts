import { type CAC, cac } from 'cac';
import { registerAccounts } from './commands/accounts.ts';
import { registerArchive } from './commands/archive.ts';
import { registerAudit } from './commands/audit.ts';
import { registerAws } from './commands/aws.ts';
import { registerBackup } from './commands/backup.ts';
import { registerChat } from './commands/chat.ts';
import { registerCompletion } from './commands/completion.ts';
import { registerDemo } from './commands/demo.ts';
import { registerDynamoDb } from './commands/dynamodb.ts';
import { registerHooks } from './commands/hooks.ts';
import { registerInbox } from './commands/inbox.ts';
import { registerKeys } from './commands/keys.ts';
import { registerLake } from './commands/lake.ts';
import { registerLogin } from './commands/login.ts';
import { registerMcp } from './commands/mcp.ts';
import { registerMe } from './commands/me.ts';
import { registerModels } from './commands/models.ts';
import { registerSecrets } from './commands/secrets.ts';
import { registerSimulate } from './commands/simulate.ts';
import { registerStart } from './commands/start.ts';
import { registerStorage } from './commands/storage.ts';
import { registerStreams } from './commands/streams.ts';
import { registerTables } from './commands/tables.ts';
import { registerTasks } from './commands/tasks.ts';
import { registerTenants } from './commands/tenants.ts';
import { explainTo, UsageError } from './errors.ts';
import { guessCommand, shapeHelp } from './help.ts';
import { versionText } from './version.ts';

/** Runs the command after `stak`, or reports what is wrong with it and sets the exit code to 1. */
export async function runCommand(argv: string[]): Promise<void> {
  const cli = cac('stak');
  try {
    await run(cli, argv);
  } catch (error) {
    console.error(`stak: ${explainTo(cli.matchedCommandName, error)}`);
    process.exitCode = 1;
  }
}

async function run(cli: CAC, argv: string[]): Promise<void> {
  registerStart(cli);
  registerDemo(cli);
  registerLogin(cli);
  registerMe(cli);
  registerAudit(cli);
  registerKeys(cli);
  registerTenants(cli);
  registerInbox(cli);
  registerHooks(cli);
  registerTasks(cli);
  registerLake(cli);
  registerChat(cli);
  registerModels(cli);
  registerMcp(cli);
  registerDynamoDb(cli);
  registerBackup(cli);
  registerTables(cli);
  registerSimulate(cli);
  registerArchive(cli);
  registerAws(cli);
  registerStreams(cli);
  registerStorage(cli);
  registerAccounts(cli);
  registerSecrets(cli);
  registerCompletion(cli);
  cli.help(sections => shapeHelp(cli, sections));
  cli.version(versionText);
  cli.parse(argv, { run: false });
  if (cli.options.help || cli.options.version) return;
  const { matchedCommand: command, args } = cli;
  if (command) {
    // Without its required arguments a command prints its help.
    if (args.length < command.args.filter(({ required }) => required).length) {
      cli.outputHelp();
      process.exitCode = 1;
    } else await cli.runMatchedCommand();
  } else if (args.length === 0) cli.outputHelp();
  else throw unknownCommand(cli, args[0]!);
}

function unknownCommand(cli: CAC, given: string): UsageError {
  const guess = guessCommand(cli, given);
  const hint = guess === undefined ? 'see stak --help' : `did you mean stak ${guess}?`;
  return new UsageError(`there is no command ${JSON.stringify(given)}; ${hint}`);
}
