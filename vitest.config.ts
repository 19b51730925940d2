import { defineConfig } from 'vitest/config';
import LongFirst from './test/long-first.ts';
import { temporaryFolder } from './test/temporary-folder.ts';

const everywhere = [
  '{packages,services,apps}/*/{src,test}/**/*.test.ts',
  'test/**/*.test.ts',
  'bench/**/*.test.ts',
];
// They hold processes or threads for the length of a file, in modules that files share, replace the time of the process,
// or collect garbage to measure the heap, which takes long beside what other files have left in it.
const apart = [
  'apps/server/test/adversary/*.test.ts',
  'services/webhooks/src/transforms/**/*.test.ts',
  'packages/sandbox/**/*.test.ts',
  'services/tasks/test/search-memory.test.ts',
];
// Minutes of processor time each, so they have commands of their own: npm run test:browser, every page of the console
// and the portal in a real browser; npm run test:programs, the command as it is built, several processes, the guides
// word for word, and a walk through every operation with every kind of credential.
const pages = ['apps/console/test/!(curl|permissions).test.ts', 'apps/portal/test/*.test.ts'];
const programs = [
  'apps/server/test/**/*-command?(s).test.ts',
  'apps/server/test/{demo,lambda,server-file,stak,start,store-check,workers}.test.ts',
  'apps/server/test/{archive,archive-account,archive-continue,archive-user,simulate,simulate-units}.test.ts',
  'apps/server/test/backup/crash.test.ts',
  'apps/server/test/walk/*.test.ts',
  'services/webhooks/test/verify-samples.test.ts',
  'test/guides/*.test.ts',
];
// Also a command of its own, because it fills the machine: npm run test:attacks.
const attacks = ['apps/server/test/attacks/*.test.ts'];
// So do these: npm run test:packed, npm run test:image.
const exclude = ['**/node_modules/**', 'test/packed/**', 'test/image/**', 'bench/data/**'];

// They start processes and browsers, each of which takes many times as long on a machine that is busy: these end what
// hangs, and no test relies on them. What a test says about time it measures.
const patience = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};

const env = temporaryFolder === undefined ? {} : { TMPDIR: temporaryFolder };

// A worker has the objects of hundreds of files: more of them die young where there is room.
const moreRoom = ['--max-semi-space-size=64'];
// Most of its code runs for one file: V8 spent a tenth of the processor's time on optimizing what was soon over. Later
// versions of Node have other names for it, and a quicker compiler in between.
const compileLater = process.version.startsWith('v20.') ? ['--interrupt-budget=300000'] : [];

// Modules are loaded once for each worker, not once for each file: loading them took longer than most tests.
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000, // some open a server, of which the first loads all modules
    expect: { poll: { timeout: 20_000 } }, // a server beside everything else that is tested takes its time
    sequence: { sequencer: LongFirst },
    reporters: ['default', './test/overdue-reporter.ts', './test/retry-reporter.ts'],
    setupFiles: ['./test/property-limits.ts', './test/async-hooks.ts', './test/answer-check.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          isolate: false,
          include: everywhere,
          exclude: [...exclude, ...apart, ...pages, ...programs, ...attacks],
          globalSetup: ['./test/build-programs.ts', './test/temporary-folder.ts'],
          env,
          execArgv: [...moreRoom, ...compileLater],
        },
      },
      { extends: true, test: { name: 'apart', isolate: true, include: apart, exclude } },
      { extends: true, test: { name: 'pages', isolate: false, include: pages, exclude, ...patience } },
      {
        extends: true,
        test: {
          name: 'programs',
          isolate: false,
          include: programs,
          exclude,
          ...patience,
          globalSetup: './test/build-programs.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'attacks',
          isolate: false,
          include: attacks,
          exclude,
          maxWorkers: 1, // bystanders are timed
          globalSetup: './test/build-programs.ts',
        },
      },
    ],
  },
});
