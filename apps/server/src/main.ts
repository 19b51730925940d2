import { readFileSync } from 'node:fs';
import { cac } from 'cac';
import { registerDynamoDb } from './commands/dynamodb.ts';
import { registerStreams } from './commands/streams.ts';
import { registerTables } from './commands/tables.ts';
import { explain, UsageError } from './errors.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function main(argv: string[]): Promise<void> {
  const cli = cac('stak');
  registerDynamoDb(cli);
  registerTables(cli);
  registerStreams(cli);
  cli.help();
  cli.version(version);
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
