import type { OlderHistory } from '@stak/engine';
import type { BackupConfig } from '../../config/backup-config.ts';
import { openObjects } from '../lake/lake-objects.ts';
import { objectsLocation } from './backup-host.ts';
import { planRestore, replayBackup } from './restore.ts';
import { listHistories, type Target } from './target.ts';

/** Finds in a backup the moments of a store that are not in its folder any more. */
export function historyOfBackup({ location, keys }: Pick<BackupConfig, 'location' | 'keys'>): OlderHistory {
  async function withTarget<T>(work: (target: Target) => Promise<T>): Promise<T> {
    const objects = openObjects(objectsLocation(location));
    try {
      return await work({ objects, keys });
    } finally {
      objects.close();
    }
  }

  return {
    earliest: () =>
      withTarget(async ({ objects }) => {
        const snapshots = (await listHistories(objects)).flatMap(history => history.snapshots);
        const complete = snapshots.filter(({ isComplete }) => isComplete).map(({ at }) => at);
        return complete.length > 0 ? Math.min(...complete) : undefined;
      }),
    replay: (untilMs, restoring) =>
      withTarget(async target => {
        await replayBackup(target, await planRestore(target, untilMs), restoring);
      }),
  };
}
