import type { Fault } from '../fault.ts';

// Segments, snapshots and moments of a backup.

export const backupFaults: readonly Fault[] = [
  {
    name: 'backup-snapshot-of-other-history',
    file: 'apps/server/src/store/backup/maintenance.ts',
    before:
      "if (end?.history !== history) throw new Error('the journal was restarted while a snapshot was taken');",
    after: "if (!end) throw new Error('the journal was restarted while a snapshot was taken');",
    why: 'A snapshot counts whose log is in another history',
    caughtBy: {
      test: 'apps/server/test/backup/snapshot.test.ts',
      name: 'is discarded if the journal was interrupted',
    },
  },
  {
    name: 'backup-snapshot-before-log',
    file: 'apps/server/src/store/backup/maintenance.ts',
    before: '    const end = await ship();\n',
    after: '    const end = { history, commit, at: from.at };\n    void ship();\n',
    why: 'A snapshot counts before the commits that it lacks are in the target',
    caughtBy: {
      test: 'apps/server/test/backup/snapshot.test.ts',
      name: 'is taken while the store is written, and moments before, during and after it can be restored',
    },
  },
  {
    name: 'backup-prunes-the-base',
    file: 'apps/server/src/store/backup/maintenance.ts',
    before: 'const old = complete.slice(0, complete.indexOf(base));',
    after: 'const old = complete.slice(0, complete.indexOf(base) + 1);',
    why: 'The snapshot is deleted with which the oldest moment is restored',
    caughtBy: {
      test: 'apps/server/test/backup/backup.test.ts',
      name: 'keeps what its retention requires, and removes the rest',
    },
  },
  {
    name: 'backup-prunes-the-log',
    file: 'apps/server/src/store/backup/maintenance.ts',
    before: 'log.filter(({ to }) => to <= base.after)',
    after: 'log.filter(({ from }) => from <= base.after + 1)',
    why: 'A segment is deleted that the oldest snapshot needs',
    caughtBy: {
      test: 'apps/server/test/backup/backup.test.ts',
      name: 'keeps what its retention requires, and removes the rest',
    },
  },
  {
    name: 'backup-prunes-foreign',
    file: 'apps/server/src/store/backup/maintenance.ts',
    before: '      foreign.push(history);\n      continue;\n',
    after: '      foreign.push(history);\n',
    why: 'An empty store that was started after a disk was lost deletes the backup of the lost one',
    caughtBy: {
      test: 'apps/server/test/backup/lost-store.test.ts',
      name: 'is kept when an empty store starts in its place, which is logged',
    },
  },
  {
    name: 'backup-bundles-over-gap',
    file: 'apps/server/src/store/backup/maintenance.ts',
    before: '(candidate.from !== group.at(-1)!.to + 1 || bytes',
    after: '(candidate.from <= group.at(-1)!.to || bytes',
    why: 'A gap in the log is hidden in a bundle',
    caughtBy: { test: 'apps/server/test/backup/guards.test.ts' },
  },
  {
    name: 'backup-segment-overwritten',
    file: 'apps/server/src/store/backup/log-tail.ts',
    before: 'if (!(await withDeadline(limits.callMs, () => objects.putIfAbsent(name, sealed.bytes))))',
    after:
      'if ((await withDeadline(limits.callMs, () => objects.putIfAbsent(name, sealed.bytes))) === undefined)',
    why: 'A segment that was not written counts as written',
    caughtBy: { test: 'apps/server/test/backup/guards.test.ts' },
  },
  {
    name: 'backup-newest-is-empty',
    file: 'apps/server/src/store/backup/restore.ts',
    before: '  else await requireOneStore(target, histories, history, manifest);\n',
    after: '',
    why: 'A restore takes the empty store that was started after a loss',
    caughtBy: {
      test: 'apps/server/test/backup/lost-store.test.ts',
      name: 'is kept apart from the backup of the next store',
    },
  },
  {
    name: 'backup-moment-not-covered',
    file: 'apps/server/src/store/backup/restore.ts',
    before: '  if (untilMs <= Math.ceil(end)) return;\n',
    after: '  if (untilMs >= 0) return;\n',
    why: 'A restore to a moment that the log does not reach says that it is that moment',
    caughtBy: {
      test: 'apps/server/test/backup/backup.test.ts',
      name: 'starts a new history with a snapshot when the journal reaches its limit',
    },
  },
  {
    name: 'backup-other-manifest',
    file: 'apps/server/src/store/backup/restore.ts',
    before: '    requireManifest(manifest, snapshot);\n',
    after: '',
    why: 'The manifest of another snapshot is accepted',
    caughtBy: { test: 'apps/server/test/backup/guards.test.ts' },
  },
];
