import type { CAC, Command } from 'cac';
import type { ExportFlags, ImportFlags } from './archive-actions.ts';
import type { MigrateFlags } from './migrate-actions.ts';

const withStore = (command: Command, verb: string): Command =>
  command
    .option('--path <folder>', `The folder of the embedded store to ${verb} (default: STAK_DATA)`)
    .option('--region <region>', 'An AWS region instead of a folder')
    .option('--endpoint <url>', 'Another DynamoDB instead of a folder, such as ExtendDB or DynamoDB Local')
    .option('--prefix <text>', 'What the names of the tables begin with (default: STAK_TABLE_PREFIX)')
    .option('--as-stored', 'Secrets stay sealed under STAK_SECRET_KEYS, which the other side needs too')
    .option('--json', 'Print what was done as JSON');

export function registerArchive(cli: CAC): void {
  withStore(cli.command('export', 'Everything of a server, into a folder'), 'read')
    .option('--to <folder>', 'The folder; an export into it that was cut short goes on')
    .option('--account <id>', 'Only what belongs to this account; may be given several times')
    .option('--live', 'Although a server is running: what changes meanwhile may be missing')
    .example('stak export --path ./data --to ./archive')
    .example('stak export --region eu-central-1 --to ./archive')
    .example('stak export --account usr_0mjuxvy9s00b8f0k3x1q2w4e --to ./archive')
    .action(async (flags: ExportFlags) => (await import('./archive-actions.ts')).exportTo(flags));
  withStore(
    cli.command('import', 'What was exported: a server into a store without data, an account into any'),
    'write',
  )
    .option('--from <folder>', 'The folder that was exported to')
    .option('--continue', 'Go on with an import into this store that was cut short')
    .example('stak import --from ./archive --region eu-central-1')
    .action(async (flags: ImportFlags) => (await import('./archive-actions.ts')).importFrom(flags));
  cli
    .command('migrate', 'The store of a server that runs, to DynamoDB, while it runs')
    .option('--path <folder>', 'The folder of the embedded store (default: STAK_DATA)')
    .option('--to <store>', 'aws')
    .option('--region <region>', 'The AWS region to move to (default: STAK_AWS_REGION)')
    .option('--endpoint <url>', 'Another DynamoDB to move to, such as ExtendDB (default: STAK_AWS_ENDPOINT)')
    .option('--prefix <text>', 'What the names of the tables begin with there (default: STAK_TABLE_PREFIX)')
    .option('--no-switch', 'Only copy and compare; the server stays where it is')
    .option('--abandon', 'Give up a migration that was begun')
    .example('stak migrate --path /var/lib/stak --to aws --region eu-central-1')
    .action(async (flags: MigrateFlags) => (await import('./migrate-actions.ts')).migrate(flags));
}
