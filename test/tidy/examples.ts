import type { Rule } from './repository.ts';

// Small repositories for the tests of the rules.

type Example = Record<string, string>;
export type Case = { rule: Rule; says: string; bad: Example[]; good?: Example[] };

export const manifest = (name: string, dependencies: string[] = [], devDependencies: string[] = []) => {
  const versions = (names: string[]) => Object.fromEntries(names.map(one => [one, '*']));
  return JSON.stringify({
    name,
    exports: { '.': './src/index.ts' },
    dependencies: versions(dependencies),
    devDependencies: versions(devDependencies),
  });
};

export const sampleRepository = {
  'package.json': manifest('stak', [], ['vitest']),
  'packages/kit/package.json': manifest('@stak/kit', ['pino']),
  'packages/engine/package.json': manifest('@stak/engine', ['@stak/kit', 'lmdb']),
  'packages/table/package.json': manifest('@stak/table', ['@stak/kit'], ['@stak/engine']),
  'services/accounts/package.json': manifest('@stak/accounts', ['@stak/table'], ['@stak/engine']),
  'services/tasks/package.json': manifest('@stak/tasks', ['@stak/table', '@stak/accounts'], ['@stak/engine']),
  'apps/server/package.json': manifest('@stak/server', ['@stak/tasks', '@stak/engine']),
};
export const inRepository = (change: Example): Example => ({ ...sampleRepository, ...change });
export const inKit = (source: string): Example => ({
  'scripts/pack.ts': "const libraries = ['kit'];",
  'packages/kit/package.json': manifest('@stak/kit'),
  'packages/kit/src/index.ts': "export { wait } from './wait.ts';\n",
  'packages/kit/src/wait.ts': source,
});
export const lines = (count: number): string => 'const line = 1;\n'.repeat(count);

export const banning =
  '## Words we do not use\n\n| instead of | write |\n|---|---|\n| lane, desk, shift | queue |\n';
