import { describe, expect, it } from 'vitest';
import {
  banning,
  type Case,
  inKit,
  inRepository,
  lines,
  manifest,
  sampleRepository,
} from './tidy/examples.ts';
import { folderCase } from './tidy/folder-examples.ts';
import { foldersInOneDirection, foldersInOrder } from './tidy/folder-rules.ts';
import { declaredImports, noDeepImports, oneVersion, packageGraph } from './tidy/graph-rules.ts';
import { publicHelp } from './tidy/help-rules.ts';
import { readRepository } from './tidy/repository.ts';
import { servedCase } from './tidy/served-rules.ts';
import {
  environmentInConfig,
  everyTestRuns,
  noNulInKeys,
  nothingLeftOver,
  oneIndexPerPackage,
  plainNames,
  shortFiles,
} from './tidy/source-rules.ts';
import {
  linksResolve,
  namedFilesExist,
  noDownloadAddresses,
  noInstallScripts,
  noMachinePaths,
  readmes,
} from './tidy/text-rules.ts';
import { glossaryRows, glossaryWords } from './tidy/word-rules.ts';

const cases: Record<string, Case> = {
  'packages depend only on the rooms below them': {
    rule: packageGraph,
    says: 'must not depend on|no place|not named|does not exist|cycle',
    bad: [
      inRepository({ 'packages/kit/package.json': manifest('@stak/kit', ['@stak/engine']) }),
      inRepository({ 'packages/table/package.json': manifest('@stak/table', ['@stak/engine']) }),
      inRepository({ 'packages/table/package.json': manifest('@stak/table', [], ['@stak/tasks']) }),
      inRepository({ 'services/tasks/package.json': manifest('@stak/tasks', ['@stak/engine']) }),
      inRepository({ 'services/accounts/package.json': manifest('@stak/accounts', ['@stak/tasks']) }),
      inRepository({ 'services/tasks/package.json': manifest('@stak/tasks', ['@stak/server']) }),
      inRepository({ 'services/tasks/package.json': manifest('@stak/tasks', ['@stak/nowhere']) }),
      inRepository({ 'packages/extra/package.json': manifest('@stak/extra') }),
      inRepository({ 'services/tasks/package.json': manifest('@stak/todo') }),
      inRepository({
        'services/accounts/package.json': manifest('@stak/accounts', ['@stak/tenants']),
        'services/tenants/package.json': manifest('@stak/tenants', ['@stak/accounts']),
      }),
    ],
    good: [sampleRepository],
  },
  'all packages have one version': {
    rule: oneVersion,
    says: 'has version 0.2.0, the others have 0.1.0',
    bad: [{ 'package.json': '{"version":"0.1.0"}', 'packages/kit/package.json': '{"version":"0.2.0"}' }],
    good: [{ 'package.json': '{"version":"0.1.0"}', 'packages/kit/package.json': '{"version":"0.1.0"}' }],
  },
  'every import is declared by its own package': {
    rule: declaredImports,
    says: 'not declared|for tests only',
    bad: [
      inRepository({ 'packages/kit/src/log.ts': "import { a } from 'winston';" }),
      inRepository({ 'packages/kit/src/log.ts': "export {\n  a,\n  type B,\n} from 'winston/lib';" }),
      inRepository({ 'packages/kit/src/log.ts': `const a = await ${'import'}('winston');` }),
      inRepository({ 'packages/kit/src/log.ts': "import '@scope/winston';" }),
      inRepository({ 'packages/kit/src/log.ts': "import { it } from 'vitest';" }),
      inRepository({ 'packages/kit/src/log.test.ts': "import fc from 'fast-check';" }),
      inRepository({ 'services/tasks/src/tasks.ts': "import type { Engine } from '@stak/engine';" }),
      inRepository({ 'services/tasks/src/tasks.ts': "import { a } from '@stak/inbox';" }),
      inRepository({ 'scripts/run.ts': "import { a } from '@stak/engine';" }),
    ],
    good: [
      inRepository({
        'packages/kit/src/log.ts':
          "import fs from 'node:fs';\nimport { pino } from 'pino';\nimport './a.ts';",
        'packages/kit/src/log.test.ts': "import { it } from 'vitest';",
        'services/tasks/test/tasks.test.ts': "import { createEngine } from '@stak/engine';",
        'packages/engine/src/partiql.ts': 'const text = `\n  select * from "Music"`;',
        'vitest.config.ts': "import { defineConfig } from 'vitest/config';",
      }),
    ],
  },
  'no import reaches into another package': {
    rule: noDeepImports,
    says: 'reaches into',
    bad: [
      inRepository({ 'packages/engine/src/a.ts': "import { a } from '@stak/kit/src/clock.ts';" }),
      inRepository({ 'packages/engine/src/a.ts': "import { a } from '../../kit/src/clock.ts';" }),
      inRepository({ 'test/a.test.ts': "import { a } from '../packages/kit/src/clock.ts';" }),
      inRepository({ 'scripts/a.ts': "import { a } from '../../outside.ts';" }),
    ],
    good: [
      inRepository({
        'packages/engine/src/http/a.ts': "import { a } from '../limits.ts';\nimport { b } from '@stak/kit';",
      }),
    ],
  },
  'folders of a package import each other in one direction': folderCase,
  'the environment is read in one place': {
    rule: environmentInConfig,
    says: 'reads the environment',
    bad: [
      { 'packages/kit/src/log.ts': 'const level = process.env.LEVEL;' },
      { 'apps/server/src/main.ts': "const { PORT } = process['env'];" },
      { 'apps/server/src/main.ts': "import { env } from 'node:process';" },
      { 'apps/console/src/main.tsx': 'const url = import.meta.env.URL;' },
    ],
    good: [
      {
        'apps/server/src/config/config.ts': 'process.env',
        'bench/src/main.ts': 'process.env',
        'scripts/conformance.ts': 'process.env',
        'packages/engine/test/client.test.ts': 'process.env',
      },
    ],
  },
  'requests are served by packages/http': servedCase,
  'a package has one index': {
    rule: oneIndexPerPackage,
    says: 'an index besides',
    bad: [
      { 'packages/engine/src/values/index.ts': '' },
      { 'packages/engine/index.ts': '' },
      { 'index.mjs': '' },
    ],
    good: [{ 'packages/engine/src/index.ts': '', 'bench/src/index.ts': '', 'apps/console/index.html': '' }],
  },
  'files are short': {
    rule: shortFiles,
    says: '401 lines',
    bad: [{ 'packages/kit/src/log.ts': lines(401) }, { 'packages/kit/test/log.test.ts': lines(401) }],
    good: [
      { 'packages/kit/src/log.ts': lines(400), 'docs/long.md': lines(500) },
      { 'packages/client/src/generated.ts': `// Generated from a document\n${lines(500)}` },
    ],
  },
  'what packages export is explained in editors': {
    rule: publicHelp,
    says: 'has no comment|not found',
    bad: [
      inKit('export function wait() {}\n'),
      inKit('// For those who read the source.\nexport const wait = () => {};\n'),
      inKit('/** How long. */\nexport type Time = number;\nexport async function* wait() {}\n'),
      inKit('/** How long. */\nexport type Time = number;\n'),
    ],
    good: [
      inKit('/** Waits. */\nexport function wait() {}\n'),
      inKit('/**\n * Waits.\n */\n// Cheap.\nexport const wait = () => {};\nexport const own = 1;\n'),
    ],
  },
  'no key can hold a NUL': {
    rule: noNulInKeys,
    says: 'writes a NUL',
    bad: [
      { 'packages/table/src/bound.ts': "const low = key + '\\0';" },
      { 'services/tasks/src/key.ts': "const low = key + '\\u0000';" },
      { 'apps/server/src/key.ts': 'const low = `a\\x00b\\u{0}`;' },
      { 'packages/streams/src/key.ts': 'const low = key + String.fromCharCode(0);' },
    ],
    good: [
      { 'packages/table/src/bound.ts': "const low = '\\u0001' + '\\01' + 0x00;" },
      { 'packages/table/src/bound.test.ts': "const hostile = '\\0';" },
      { 'packages/engine/src/keys.ts': "const hostile = '\\0';" },
    ],
  },
  'nothing is left over': {
    rule: nothingLeftOver,
    says: 'unfinished|silences|casts',
    bad: [
      { 'a.ts': 'const a = 1; // TODO later' },
      { 'a.ts': '/* TODO: later */' },
      { 'a.ts': '/**\n * TODO later\n */' },
      { 'a.md': '<!-- TODO -->' },
      { '.ci/run': '# TODO' },
      { 'a.md': 'FIXME: say more' },
      { 'a.ts': '// XXX' },
      { 'a.ts': '// @ts-ignore' },
      { 'a.ts': '// @ts-nocheck' },
      { 'a.ts': 'const a = (b as any).c;' },
      { 'a.ts': 'const a = b as any;' },
      { 'a.ts': 'f(b as any, c)' },
      { 'a.tsx': 'const a = b as any\n' },
    ],
    good: [
      { 'a.ts': "const status = 'TODO';\n// It is as good as any other.\n// mktemp wants XXXXXX" },
      { 'a.md': 'A task is `TODO` or `DONE`, as any task is' },
    ],
  },
  'every test runs, or says in its name what it needs': {
    rule: everyTestRuns,
    says: 'runs alone|skipped without|never runs',
    bad: [
      { 'packages/portal-react/src/a.test.tsx': "it('a', () => {});" },
      { 'a.test.ts': "it.only('a', () => {});" },
      { 'a.test.ts': "describe.concurrent.only('a', () => {});" },
      { 'a.test.ts': "test.only.each([1])('a', () => {});" },
      { 'a.test.ts': "it.skip('a', () => {});" },
      { 'a.test.ts': "it.todo('a');" },
      { 'a.test.ts': "it.skipIf(!binary)('a', () => {});" },
      { 'a.test.ts': "describe.runIf(process.platform === 'linux')('a', () => {});" },
      { 'a.test.ts': "const suite = binary ? describe : describe.skip;\nsuite('a', () => '(needs b)');" },
      { 'a.test.ts': "it.skip('a', () => {});\nit.skip('b (needs c)', () => {});" },
    ],
    good: [
      { 'a.test.ts': "it.skipIf(!binary)('agrees with dynoxide (needs its binary)', () => {});" },
      { 'a.test.ts': "it.skip(\n  'a (skipped because b is not built yet)',\n  () => {});" },
      { 'a.ts': 'list.skip(1); reader.skipIf(empty); process.exit(1);' },
    ],
  },
  'names are plain kebab-case nouns': {
    rule: plainNames,
    says: 'not kebab-case|says nothing',
    bad: [
      { 'src/putItem.ts': '' },
      { 'src/put_item.ts': '' },
      { 'src/Values/size.ts': '' },
      { 'src/utils.ts': '' },
      { 'src/helpers/size.ts': '' },
      { 'src/common.test.ts': '' },
      { 'src/put--item.ts': '' },
    ],
    good: [
      {
        'src/put-item.test.ts': '',
        '.ci/run': '',
        '.editorconfig': '',
        'docs/adr/0001-own-engine.md': '',
        'README.md': '',
        'src/utility-bill.ts': '',
      },
    ],
  },
  'names are words of the glossary': {
    rule: glossaryWords,
    says: 'write queue, not (lane|desk)',
    bad: [
      { 'docs/GLOSSARY.md': banning, 'packages/mail/src/lanes.ts': '' },
      { 'docs/GLOSSARY.md': banning, 'packages/mail/src/a.ts': 'const lane = 1;' },
      { 'docs/GLOSSARY.md': banning, 'packages/mail/src/a.ts': 'export type OpenLanes = string[];' },
      { 'docs/GLOSSARY.md': banning, 'packages/mail/src/a.ts': 'const a = { nextLane: 1 };' },
      { 'docs/GLOSSARY.md': banning, 'packages/mail/test/a.test.ts': 'deskOf(a);' },
    ],
    good: [
      {
        'docs/GLOSSARY.md': banning,
        'packages/mail/src/a.ts':
          "const key = `LANE#1`; // a lane\nconst planes = ['lane', waiting.shift()];",
        'services/agents/src/table.ts': 'const lane = 1;', // a stored attribute
        'packages/client/src/generated.ts': '// Generated from a document\nconst lane = 1;',
        'docs/lane.md': 'A lane.',
      },
    ],
  },
  'the glossary explains each word once, and says where it is defined': {
    rule: glossaryRows,
    says: 'twice|no sentence|names no file',
    bad: [
      '| queue | Work that is due. | nowhere |',
      '| queue | | [queue.ts](../queue.ts) |',
      '| queue | Work. | [queue.ts](../queue.ts) |\n| queue | Work. | [queue.ts](../queue.ts) |',
    ].map(rows => ({ 'docs/GLOSSARY.md': rows })),
    good: [
      {
        'docs/GLOSSARY.md':
          '| word | meaning | defined in |\n|---|---|---|\n| queue | Work. | [a](../a.ts) |',
      },
    ],
  },
  'no download address is pinned': {
    rule: noDownloadAddresses,
    says: 'names a',
    bad: [
      { 'package-lock.json': '{ "resolved": "https://registry.example/pino/-/pino-10.0.0.tgz" }' },
      { 'package-lock.json': '{ "resolved":"http://10.0.0.1/pino.tgz" }' },
      { 'package-lock.json': '{ "resolved": "git+ssh://git@host.example/a.git" }' },
      { '.npmrc': 'registry=https://registry.example' },
    ],
    good: [{ 'package-lock.json': '{ "resolved": "packages/kit", "link": true }', '.npmrc': 'fund=false' }],
  },
  'no install script runs, and npm knows': {
    rule: noInstallScripts,
    says: 'install script of lmdb',
    bad: [
      { 'package-lock.json': '{ "packages": { "node_modules/lmdb": { "hasInstallScript": true } } }' },
      {
        'package-lock.json': '{ "packages": { "a/node_modules/lmdb": { "hasInstallScript": true } } }',
        'package.json': '{ "allowScripts": { "lmdb": true, "pino": false } }',
      },
    ],
    good: [
      {
        'package-lock.json': '{ "packages": { "node_modules/lmdb": { "hasInstallScript": true }, "": {} } }',
        'package.json': '{ "allowScripts": { "lmdb": false } }',
      },
    ],
  },
  'no path of one machine is written down': {
    rule: noMachinePaths,
    says: 'path of one machine',
    bad: [
      { 'a.ts': "const folder = '/tmp/data';" },
      { 'docs/a.md': 'See /home/ann/stak.' },
      ...['root', 'work', 'Users'].map(folder => ({ '.ci/run': `cd /${folder}/stak` })),
      { 'a.ts': 'const folder = `/tmp/$' + '{name}`;' },
    ],
    good: [{ 'a.ts': "join(tmpdir(), 'data'); get('https://a.example/home/b'); './tmp/a'; 'src/work/a'" }],
  },
  'files that documents name exist': {
    rule: namedFilesExist,
    says: 'there is no',
    bad: [
      { 'docs/ARCHITECTURE.md': 'See `delivery/queue.ts`.', 'services/webhooks/src/queue.ts': '' },
      { 'docs/adr/0001-a.md': '`gone.mjs`' },
      { 'packages/kit/README.md': '`src/gone.ts`' },
    ],
    good: [
      {
        'docs/ARCHITECTURE.md':
          '`delivery/queue.ts`, `src/index.ts` and `packages/kit`\n```ts\n`gone.ts`\n```\n',
        'services/webhooks/src/delivery/queue.ts': '',
        'services/webhooks/src/index.ts': '',
        'docs/guides/first.md': 'Write `app.ts`.',
      },
    ],
  },
  'packages and services have a README that begins with an example': {
    rule: readmes,
    says: 'has no README.md|does not begin with an example',
    bad: [
      { 'packages/kit/package.json': '{}' },
      {
        'services/tasks/package.json': '{}',
        'services/tasks/README.md': '# Tasks\n\n## Use\n```ts\na();\n```\n',
      },
    ],
    good: [
      {
        'packages/kit/package.json': '{}',
        'packages/kit/README.md': '# kit\n\n```ts\na();\n```\n\n## More\n',
      },
    ],
  },
  'links in the documents lead somewhere': {
    rule: linksResolve,
    says: 'leads nowhere|names no heading',
    bad: [
      { 'README.md': 'See [the plan](docs/plan.md).' },
      { 'docs/a.md': '[up](../missing.md)' },
      { 'docs/a.md': '![picture](picture.png)' },
      { 'docs/a.md': '[ref]: missing.md' },
      { 'README.md': '# Stak\n[run](#run-it)' },
      { 'src/a.ts': '// See docs/adr/0009-missing.md.' },
      { 'README.md': '[b](docs/b.md#two)', 'docs/b.md': '# One\n```\n# two\n```' },
    ],
    good: [
      {
        'README.md':
          '# Run it\n[a](docs/a.md#the-one--only) [b](#run-it) [c](https://a.example/b) [d](docs/) `[e](none.md)`',
        'src/a.ts': '// See docs/a.md and https://a.example/docs/none.md.',
        'docs/a.md': '## The one & only\n[up](../README.md "title")\n```\n[no](none.md)\n```',
      },
    ],
  },
};

const repository = readRepository();

describe('the repository', () => {
  it('is read as a whole', () => {
    const paths = ['package.json', 'README.md', '.ci/run', 'packages/kit/src/index.ts', 'test/tidy.test.ts'];
    expect(paths.filter(path => !repository.get(path))).toEqual([]);
  });

  it.each(Object.entries(cases))('%s', (_, { rule }) => {
    expect(rule(repository)).toEqual([]);
  });
});

describe('the folders of a package, from the lowest', () => {
  it.each(foldersInOrder(repository))('%s: %s', source => {
    expect(foldersInOneDirection(repository).filter(one => one.startsWith(`${source}:`))).toEqual([]);
  });
});

describe.each(Object.entries(cases))('the rule that %s', (_, { rule, says, bad, good = [] }) => {
  it.each(bad)('sees %j', example => {
    expect(rule(new Map(Object.entries(example))).join('\n')).toMatch(new RegExp(says));
  });

  it.each(good)('accepts %j', example => {
    expect(rule(new Map(Object.entries(example)))).toEqual([]);
  });
});
