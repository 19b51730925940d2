import type { Case } from './examples.ts';
import { foldersInOneDirection } from './folder-rules.ts';

const webhooks = 'services/webhooks/src';
const read = 'import { read } from';

export const folderCase: Case = {
  rule: foldersInOneDirection,
  says: 'a circle of imports|more than 1 pair by type',
  bad: [
    {
      [`${webhooks}/ingest/write.ts`]: `${read} '../delivery/read.ts';`,
      [`${webhooks}/delivery/read.ts`]: `export ${'*'} from '../ingest/event.ts';`,
    },
    {
      [`${webhooks}/ingest/write.ts`]: `${read} '../delivery/read.ts';`,
      [`${webhooks}/delivery/read.ts`]: `${read} '../events/list.ts';`,
      [`${webhooks}/events/list.ts`]: `import { type A, read } from '../ingest/write.ts';`,
    },
    {
      [`${webhooks}/tables.ts`]: `${read} './sources/owner.ts';`,
      [`${webhooks}/sources/sources.ts`]: `${read} '../tables.ts';`,
    },
    {
      'packages/table/src/items/guard.ts': `${read} './keys/key.ts';`,
      'packages/table/src/items/keys/key.ts': `${read} '../guard.ts';`,
    },
    { [`${webhooks}/a.ts`]: `${read} './b.ts';`, [`${webhooks}/b.ts`]: `${read} './a.ts';` },
    {
      [`${webhooks}/ingest/write.ts`]: "import type { A } from '../delivery/read.ts';",
      [`${webhooks}/delivery/read.ts`]: `${read} '../ingest/event.ts';`,
      [`${webhooks}/events/list.ts`]: "import { type A, type B } from '../sources/read.ts';",
      [`${webhooks}/sources/read.ts`]: "export type { A } from '../events/event.ts';",
    },
  ],
  good: [
    {
      [`${webhooks}/ingest/write.ts`]: `${read} '../delivery/read.ts';\n${read} '../limits.ts';`,
      [`${webhooks}/delivery/read.ts`]: "import type { A } from '../ingest/event.ts';",
      [`${webhooks}/delivery/read.test.ts`]: `${read} '../ingest/event.ts';`,
      [`${webhooks}/limits.ts`]: "import { type A } from './ingest/write.ts';",
      'apps/console/src/pages/a.ts': `${read} '../parts/b.ts';`,
      'apps/console/src/parts/b.ts': `${read} '../pages/a.ts';`,
    },
  ],
};
