import { type CAC, cac } from 'cac';
import { explainTo, UsageError } from '../config/errors.ts';
import { versionText } from '../config/version.ts';
import { registerAudit } from './account/audit.ts';
import { registerKeys } from './account/keys.ts';
import { registerLogin } from './account/login.ts';
import { registerMe } from './account/me.ts';
import { registerModels } from './account/models.ts';
import { registerTenants, registerTokens } from './account/tenants.ts';
import { registerCompletion } from './completion.ts';
import { registerDemo } from './demo/demo-command.ts';
import { guessCommand, shapeHelp } from './help.ts';
import { withoutCommands } from './print.ts';
import { registerAws } from './server/aws.ts';
import { registerDynamoDb } from './server/dynamodb.ts';
import { registerStart } from './server/start.ts';
import { registerAgents } from './services/agents.ts';
import { registerChat } from './services/chat.ts';
import { registerHooks } from './services/hooks.ts';
import { registerInbox } from './services/inbox.ts';
import { registerLake } from './services/lake.ts';
import { registerMcp } from './services/mcp.ts';
import { registerTasks } from './services/tasks.ts';
import { registerWhy } from './services/why.ts';
import { registerSimulate } from './simulate/simulate-command.ts';
import { registerAccounts } from './store/accounts.ts';
import { registerArchive } from './store/archive.ts';
import { registerBackup, registerRestore } from './store/backup.ts';
import { registerSecrets } from './store/secrets.ts';
import { registerStorage } from './store/storage.ts';
import { registerStreams } from './store/streams.ts';
import { registerTables } from './store/tables.ts';

/** Runs the command after `stak`, or reports what is wrong with it and sets the exit code to 1. */
export async function runCommand(argv: string[]): Promise<void> {
  const cli = cac('stak');
  try {
    await run(cli, argv);
  } catch (error) {
    console.error(`stak: ${withoutCommands(explainTo(cli.matchedCommandName, error))}`);
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
  registerTokens(cli);
  registerInbox(cli);
  registerHooks(cli);
  registerTasks(cli);
  registerLake(cli);
  registerChat(cli);
  registerAgents(cli);
  registerWhy(cli);
  registerModels(cli);
  registerMcp(cli);
  registerDynamoDb(cli);
  registerBackup(cli);
  registerRestore(cli);
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
