import { BaseSequencer, type TestSpecification } from 'vitest/node';

// What takes longest begins first, or a worker would be alone with it at the end. The runner knows how long files take
// from its last run, which a new checkout has not had; by their size, these would come late.
const long = [
  'apps/console/test/agents.test.ts',
  'test/guides/guides.test.ts',
  'apps/console/test/console.test.ts',
  'apps/console/test/tasks.test.ts',
  'apps/server/test/demo.test.ts',
  'apps/console/test/inbox.test.ts',
  'apps/console/test/tables.test.ts',
  'apps/server/test/walk/walk.test.ts',
  'apps/server/test/walk/hostile.test.ts',
  'apps/server/test/stak.test.ts',
  'apps/server/test/workers.test.ts',
  'services/accounts/test/accounts.test.ts',
  'apps/server/test/forged-archive.test.ts',
  'apps/server/test/lake-thread.test.ts',
  'apps/server/test/lake-texts.test.ts',
  'apps/server/test/reminder-webhooks.test.ts',
  'services/lake/test/iceberg.test.ts',
  'services/webhooks/test/durability.test.ts',
  'services/inbox/test/oracle.test.ts',
  'apps/console/test/visits.test.ts',
  'services/lake/test/lockdown.test.ts',
  'packages/engine/test/crash/crash.test.ts',
];

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const found = long.findIndex(path => moduleId.endsWith(`/${path}`));
      return found === -1 ? long.length : found;
    };
    // Projects stay apart: a worker is kept for the next file only if that belongs to the same one.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap(one =>
      sorted.filter(({ project }) => project === one).sort((a, b) => rank(a) - rank(b)),
    );
  }
}
