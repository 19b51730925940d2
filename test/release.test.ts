import { expect, it } from 'vitest';
import { cutChangelog } from '../scripts/prepare-release.ts';
import { type Lock, shrinkwrap } from '../scripts/shrinkwrap.ts';

const lock: Lock = {
  packages: {
    '': {},
    'node_modules/a': {
      version: '1.0.0',
      dependencies: { b: '^1' },
      optionalDependencies: { '@os/linux': '1', gone: '1' },
    },
    'node_modules/a/node_modules/b': { version: '1.5.0', dependencies: { c: '*' } },
    'node_modules/b': { version: '2.0.0', dev: true },
    'node_modules/c': { version: '3.0.0', dev: true, dependencies: { b: '2' } },
    'node_modules/@os/linux': { version: '1.0.0', optional: true, dependencies: { d: '1' } },
    'node_modules/@os/linux/node_modules/d': { version: '1.0.0', optional: true },
    'node_modules/d': { version: '9.0.0' },
  },
};

it('has exactly what the dependencies need, where Node finds it', () => {
  const { packages } = shrinkwrap(lock, { name: 'x', version: '1.0.0', dependencies: { a: '1' } }) as Lock;
  expect(Object.keys(packages)).toEqual([
    '',
    'node_modules/@os/linux',
    'node_modules/@os/linux/node_modules/d',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/b',
    'node_modules/c',
  ]);
  expect(packages['node_modules/b']).toEqual({ version: '2.0.0' });
  expect(packages['node_modules/@os/linux']).toMatchObject({ optional: true });
});

it('refuses a dependency that the lockfile does not have', () => {
  const manifest = { name: 'x', version: '1.0.0', dependencies: { unknown: '1' } };
  expect(() => shrinkwrap(lock, manifest)).toThrow('package-lock.json has no unknown for x');
});

it('gives what was unreleased the title of a version', () => {
  const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n- This.\n\n## [0.1.0]\n\nThe first.\n';
  expect(cutChangelog(text, '0.2.0', '2026-11-18')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-18\n\n### Added\n- This.\n\n## [0.1.0]\n\nThe first.\n',
  );
  expect(() => cutChangelog('## [Unreleased]\n\n## [0.1.0]\n', '0.2.0', '')).toThrow(
    'nothing under [Unreleased]',
  );
});
