import type { CAC } from 'cac';
import { declareActions, runAction } from './action.ts';
import type { actions, Flags, RestoreFlags } from './backup-actions.ts';

export function registerBackup(cli: CAC): void {
  declareActions<keyof typeof actions>(
    cli,
    'backup <action>',
    'The backup of an embedded store (STAK_BACKUP)',
    {
      status: 'Show the newest snapshot, the end of the log, its size and its gaps',
    },
  )
    .option('--from <place>', 'A folder or s3://bucket/prefix (default: STAK_BACKUP)')
    .option('--json', 'Print JSON')
    .example('stak backup status --from /mnt/backup')
    .action(async (name: string, flags: Flags) => {
      const { actions } = await import('./backup-actions.ts');
      await runAction('backup', actions, name, flags);
    });
  cli
    .command('restore', 'Restore a store from its backup, as of any second')
    .option('--from <place>', 'A folder or s3://bucket/prefix (default: STAK_BACKUP)')
    .option('--to-time <time>', 'The time to restore, such as 2026-11-15T12:00:00Z (default: the newest)')
    .option('--path <folder>', 'Where to write it: an empty or new folder (default: ./data)')
    .example('stak restore --from /mnt/backup --path ./data')
    .example('stak restore --from s3://bucket/stak --to-time 2026-11-15T12:00:00Z --path ./data')
    .action(async (flags: RestoreFlags) => {
      const { restore } = await import('./backup-actions.ts');
      await restore(flags);
    });
}
