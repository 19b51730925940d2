import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  asProgram,
  firstExample,
  inProject,
  runOutside,
  spawnOutside,
  tarballOf,
  withNode,
  writeOutside,
} from './outside.ts';

const printed: Record<string, string> = {
  kit: 'sk_live_123',
  engine: "{ artist: 'Nina Simone', albums: 40 }",
  table: "[ 'Call Bob', 'Buy milk' ]",
  streams: 'insert 42',
  langgraph: "[ 'hello', 'You said hello', 'goodbye', 'You said goodbye' ]",
};
const programs = Object.keys(printed);

// Both have a command of this name.
const compilerOf = async (name: string, project = 'library'): Promise<string> => {
  const file = inProject(project, 'node_modules', name);
  const { bin } = JSON.parse(await readFile(`${file}/package.json`, 'utf8')) as { bin: { tsc: string } };
  await writeOutside(project, { [`${name}.mjs`]: `import './node_modules/${name}/${bin.tsc}';\n` });
  return `${name}.mjs`;
};

describe('a program with the packages', () => {
  const compile = async (compiler: string, flags: string[]) =>
    runOutside('library', await compilerOf(compiler), [...flags, ...sources]);
  const sources = [...programs, 'client'].map(name => `src/${name}.ts`);
  beforeAll(async () => {
    for (const name of [...programs, 'client'])
      await writeOutside('library', { [`src/${name}.ts`]: await firstExample(`packages/${name}`) });
    await compile('typescript', asProgram);
  });

  it.each(programs)('runs: the first one in the README of %s', async name => {
    expect(await runOutside('library', `out/${name}.js`)).toContain(printed[name]);
  });

  it.each([
    ['typescript', 'preserve', 'bundler'],
    ['typescript-5', 'nodenext', 'nodenext'],
  ])('compiles for %s, module %s, resolution %s', async (compiler, module, resolution) => {
    await compile(compiler, [...withNode, '--noEmit', '--module', module, '--moduleResolution', resolution]);
  });

  // In a project without LangChain, whose own declarations do not pass.
  it.each(['typescript', 'typescript-5'])(
    'has declarations that %s checks as strictly as it can',
    async compiler => {
      const names = ['kit', 'engine', 'table', 'table/aws', 'streams', 'streams/aws', 'client'];
      const imports = names
        .map(name => `export * as ${name.replace('/', '_')} from '@stak/${name}';\n`)
        .join('');
      await writeOutside('oldest', { 'src/declarations.ts': imports });
      const flags = ['--skipLibCheck', 'false', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
      const resolution = ['--noEmit', '--module', 'nodenext', 'src/declarations.ts'];
      await runOutside('oldest', await compilerOf(compiler, 'oldest'), [
        ...withNode,
        ...flags,
        ...resolution,
      ]);
    },
  );

  it('runs with the oldest zod that is allowed', async () => {
    const manifest = await readFile(inProject('oldest/node_modules/zod/package.json'), 'utf8');
    expect((JSON.parse(manifest) as { version: string }).version).toBe('4.0.0');
    await writeOutside('oldest', { 'src/table.ts': await firstExample('packages/table') });
    await runOutside('oldest', await compilerOf('typescript', 'oldest'), [...asProgram, 'src/table.ts']);
    expect(await runOutside('oldest', 'out/table.js')).toContain(printed.table);
  });

  it('finds the sources of the packages through their source maps', async () => {
    const map = inProject('library/node_modules/@stak/engine/dist/engine.js.map');
    const { sourcesContent } = JSON.parse(await readFile(map, 'utf8')) as { sourcesContent: string[] };
    expect(sourcesContent[0]).toContain('export type EngineOptions');
  });

  it('needs no undeclared package', async () => {
    // With nothing else beside them than what npm put there for their own sake.
    const entries = ['@stak/table/aws', '@stak/streams/aws', '@stak/client', '@stak/engine'];
    const program = `for (const name of ${JSON.stringify(entries)}) await import(name);\nconsole.log('loaded');`;
    await writeOutside('library', { 'entries.mjs': program });
    expect(await runOutside('library', 'entries.mjs')).toContain('loaded');
  });
});

describe('the engine as a test database', () => {
  const text = `
    let engine;
    beforeEach(async () => {
      engine = await createEngine({ path: ':memory:' });
      await engine.execute('CreateTable', {
        TableName: 'notes',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
      });
    });
    afterEach(() => engine.close());
    for (const name of ['first', 'second'])
      it('begins empty: ' + name, async () => {
        expect((await engine.client.scan({ TableName: 'notes' })).Items).toEqual([]);
        await engine.client.put({ TableName: 'notes', Item: { id: name } });
        expect((await engine.client.scan({ TableName: 'notes' })).Items).toEqual([{ id: name }]);
      });
  `;

  it('works with vitest', async () => {
    const imports =
      "import { createEngine } from '@stak/engine';\nimport { afterEach, beforeEach, expect, it } from 'vitest';";
    await writeOutside('library', { 'vitest/notes.test.mjs': imports + text });
    const output = await runOutside('library', 'vitest', ['run', '--dir', 'vitest']);
    expect(output).toContain('2 passed');
  });

  it('works with jest', async () => {
    const imports = "import { createEngine } from '@stak/engine';";
    await writeOutside('library', { 'jest/notes.spec.js': imports + text });
    const args = ['--rootDir', 'jest', '--transform', '{}'];
    const output = await runOutside('library', 'jest', args, { NODE_OPTIONS: '--experimental-vm-modules' });
    expect(output).toContain('2 passed');
  });
});

describe('the engine as a DynamoDB for tests', () => {
  const tables = [
    {
      TableName: 'notes',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    },
  ];
  const seed = JSON.stringify({ tables, items: { notes: [{ id: '1', title: 'Buy milk' }] } });

  it('is a command that serves a seed, in memory, until its input ends', async () => {
    await writeOutside('library', { 'seed.json': seed });
    const args = ['--port', '0', '--seed', 'seed.json', '--until-stdin-ends'];
    const server = spawnOutside('library', 'stak-dynamodb', args);
    const url = /^DynamoDB in memory at (http:\S+)$/.exec(await server.firstLine)?.[1];
    const answer = await fetch(url!, {
      method: 'POST',
      headers: {
        'x-amz-target': 'DynamoDB_20120810.Scan',
        'content-type': 'application/x-amz-json-1.0',
        authorization: 'AWS4-HMAC-SHA256 Credential=any',
      },
      body: JSON.stringify({ TableName: 'notes' }),
    });
    expect(await answer.json()).toMatchObject({ Items: [{ id: { S: '1' }, title: { S: 'Buy milk' } }] });
    expect(await (await fetch(`${url}/tables/notes`)).text()).toContain('Buy milk');
    server.endInput();
    expect(await server.closed).toBe(0);
  });

  it.each([
    [['--port', 'x'], 'is no port'],
    [['--seed', 'nothing.json'], 'cannot be read'],
    [['--surprise'], 'Unknown option'],
  ])('refuses %j with a reason', async (args, message) => {
    await expect(runOutside('library', 'stak-dynamodb', args)).rejects.toThrow(message);
  });

  const body = (hooks: string) => `
    const dynamodb = useDynamoDb(${hooks}, { seed: 'seed.json' });
    for (const name of ['first', 'second'])
      it('begins with the seed: ' + name, async () => {
        const { client } = dynamodb.engine;
        expect((await client.scan({ TableName: 'notes' })).Count).toBe(1);
        await client.put({ TableName: 'notes', Item: { id: name } });
        expect((await fetch(dynamodb.url)).status).toBe(200);
      });
  `;
  const helper = "import { useDynamoDb } from '@stak/engine/testing';\n";

  it('has hooks for vitest', async () => {
    const imports = "import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';\n";
    const file = helper + imports + body('{ beforeAll, beforeEach, afterAll }');
    await writeOutside('library', { 'seed.json': seed, 'seeded/notes.test.mjs': file });
    expect(await runOutside('library', 'vitest', ['run', '--dir', 'seeded'])).toContain('2 passed');
  });

  it('has hooks for jest', async () => {
    const file = helper + body('{ beforeAll, beforeEach, afterAll }');
    await writeOutside('library', { 'seed.json': seed, 'seeded-jest/notes.spec.js': file });
    const args = ['--rootDir', 'seeded-jest', '--transform', '{}'];
    const output = await runOutside('library', 'jest', args, { NODE_OPTIONS: '--experimental-vm-modules' });
    expect(output).toContain('2 passed');
  });

  it('has hooks for node:test', async () => {
    const imports = `import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
const expect = actual => ({ toBe: expected => assert.equal(actual, expected) });
`;
    const file = helper + imports + body('{ beforeAll: before, beforeEach, afterAll: after }');
    await writeOutside('library', { 'seed.json': seed, 'seeded.mjs': file });
    expect(await runOutside('library', 'seeded.mjs')).toContain('# pass 2');
  });
});

describe('the tarballs', () => {
  const names = [
    'kit',
    'engine',
    'table',
    'streams',
    'langgraph',
    'client',
    'inbox-react',
    'portal-react',
  ].map(name => `stak-${name}`);

  it.each([...names, 'stak-server'])('satisfy publint: %s', async name => {
    const output = await runOutside('library', 'publint', [tarballOf(name), '--strict']);
    expect(output).toContain('All good!');
  });

  it.each(names)('have types for everything they export: %s', async name => {
    // CommonJS reaches modules by import(), and nobody imports the declarations of a style sheet as a module.
    const args = ['--profile', 'esm-only', '--exclude-entrypoints', 'styles.css'];
    await runOutside('library', 'attw', [tarballOf(name), ...args]);
  });
});
