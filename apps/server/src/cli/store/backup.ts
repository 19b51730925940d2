import type { CAC } from 'cac';
import { declareActions, declareExitCodes, runAction } from '../action.ts';
import type { actions, Flags, RestoreFlags } from './backup-actions.ts';

export function registerBackup(cli: CAC): void {
  const backup = declareActions<keyof typeof actions>(
    cli,
    'backup <action>',
    'The backup of an embedded store (STAK_BACKUP)',
    {
      status: 'Show the newest snapshot, the end of the log, its size and its gaps',
    },
  )
    .option('--from <place>', 'A folder or s3://bucket/prefix (default: STAK_BACKUP)')
    .option('--max-lag <time>', 'Fail if nothing was shipped for longer, such as 10m')
    .option('--json', 'Print JSON')
    .example('stak backup status --from /mnt/backup')
    .example('stak backup status --max-lag 10m')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./backup-actions.ts');
      await runAction('backup', actions, name, flags);
    });
  declareExitCodes(backup, {
    0: 'a restore to the newest moment is possible',
    1: 'the place could not be read, or the command is wrong',
    2: 'there is no complete snapshot: nothing can be restored',
    3: 'there are gaps: some moments cannot be restored',
    4: 'nothing was shipped for longer than --max-lag',
  });
  cli
    .command('restore', 'Restore a store as of any second, from its backup or its data folder')
    .option('--from <place>', 'A backup (default: STAK_BACKUP) or a data folder (default: ./data)')
    .option('--to-time <time>', 'The time to restore, such as 2026-11-15T12:00:00Z (default: the newest)')
    .option(
      '--path <folder>',
      'Where to write it: an empty or new folder (default: ./data, or ./data-restored)',
    )
    .example('stak restore --to-time 2026-11-15T12:00:00Z')
    .example('stak restore --from /mnt/backup --path ./data')
    .example('stak restore --from s3://bucket/stak --to-time 2026-11-15T12:00:00Z --path ./data')
    .action(async (flags: RestoreFlags) => {
      const { restore } = await import('./backup-actions.ts');
      await restore(flags);
    });
}
