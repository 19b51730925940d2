import type { CAC, Command } from 'cac';
import type { ExportFlags, ImportFlags } from './archive-actions.ts';
import type { MigrateFlags } from './migrate-actions.ts';

const withStore = (command: Command, verb: string): Command =>
  command
    .option('--path <folder>', `The folder of the embedded store to ${verb} (default: STAK_DATA)`)
    .option('--region <region>', 'An AWS region instead of a folder')
    .option('--endpoint <url>', 'Another DynamoDB instead of a folder, such as ExtendDB or DynamoDB Local')
    .option('--prefix <text>', 'The prefix of table names (default: STAK_TABLE_PREFIX)')
    .option('--as-stored', 'Keep secrets encrypted with STAK_SECRET_KEYS, which the other side then needs')
    .option('--json', 'Print the result as JSON');

export function registerArchive(cli: CAC): void {
  withStore(cli.command('export', 'Export all data of a server to a folder'), 'read')
    .option('--to <folder>', 'The folder to write to. An interrupted export continues')
    .option('--account <id>', 'Export only this account; can be repeated')
    .option('--live', 'Export while a server is running; changes made during the export may be missing')
    .example('stak export --path ./data --to ./archive')
    .example('stak export --region eu-central-1 --to ./archive')
    .example('stak export --account usr_0mjuxvy9s00b8f0k3x1q2w4e --to ./archive')
    .action(async (flags: ExportFlags) => (await import('./archive-actions.ts')).exportTo(flags));
  withStore(
    cli.command(
      'import',
      'Import an export: a whole server into an empty store, or an account into any store',
    ),
    'write',
  )
    .option('--from <folder>', 'The folder of the export')
    .option('--continue', 'Continue an interrupted import into this store')
    .option(
      '--unverified',
      'Import an archive that has no seal of STAK_SECRET_KEYS: anyone may have written it',
    )
    .option('--server', 'The unverified archive is of a whole server: nothing in it is checked')
    .option(
      '--keep <what>',
      'Of an account: plan, verified (its address), roles (of members), credentials (passwords, keys, sessions); separated by commas',
    )
    .example('stak import --from ./account --unverified --keep plan,credentials')
    .example('stak import --from ./archive --region eu-central-1')
    .action(async (flags: ImportFlags) => (await import('./archive-actions.ts')).importFrom(flags));
  cli
    .command('migrate', 'Move the store of a running server to DynamoDB')
    .option('--path <folder>', 'The folder of the embedded store (default: STAK_DATA)')
    .option('--to <store>', 'aws')
    .option('--region <region>', 'The AWS region to move to (default: STAK_AWS_REGION)')
    .option('--endpoint <url>', 'Another DynamoDB to move to, such as ExtendDB (default: STAK_AWS_ENDPOINT)')
    .option('--prefix <text>', 'The prefix of table names there (default: STAK_TABLE_PREFIX)')
    .option('--pause <time>', 'How long writes may be paused for the switch (default: 8s)')
    .option('--no-switch', 'Only copy and compare; the server stays where it is')
    .option('--abandon', 'Cancel a migration')
    .example('stak migrate --path /var/lib/stak --to aws --region eu-central-1')
    .example('stak migrate --to aws --region eu-central-1 --pause 30s')
    .action(async (flags: MigrateFlags) => (await import('./migrate-actions.ts')).migrate(flags));
}
