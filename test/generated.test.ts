import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decisionsPage } from '../scripts/generate-decisions.ts';
import { errorsPage } from '../scripts/generate-errors.ts';
import { generatedFiles } from '../scripts/generated-files.ts';

const root = join(import.meta.dirname, '..');

// In this process, which mostly has the server's modules already: to load them takes another one seconds.
it('the client and the references match the code', async () => {
  const files = await generatedFiles();
  expect(files.map(([path]) => path)).toContain('packages/client/src/generated.ts');
  for (const [path, text] of files)
    expect(await readFile(join(root, path), 'utf8'), `${path} is out of date: npm run generate`).toBe(text);
});

it('the error reference lists each code once, with the operations that return it', () => {
  const answer = (description: string) => ({ responses: { 409: { description } } });
  const catalogue = { statuses: { 'b.taken': 409, 'b.gone': 404, 'http.internal': 500 } };
  const many = Array.from({ length: 8 }, (_, i) => [
    `/${i}`,
    { get: { operationId: `b.${i}`, ...answer('`b.gone`') } },
  ]);
  const paths = { '/b': { post: { operationId: 'b.add', ...answer('`http.internal`, `b.taken`') } } };
  const page = errorsPage(
    [catalogue, catalogue],
    { paths: { ...paths, ...Object.fromEntries(many) } },
    { 'http.internal': 'It failed.', 'b.gone': 'It is gone.', 'b.taken': 'It is taken.' },
  );
  expect(page.split('\n').filter(line => /^[|#] /.test(line) || line.startsWith('##'))).toEqual([
    '# Errors',
    '## http',
    '| Code | Status | What it means, and what to do |',
    '| `http.internal` | 500 Internal Server Error | It failed. |',
    '## b',
    '| Code | Status | What it means, and what to do | Answered by |',
    '| `b.gone` | 404 Not Found | It is gone. | `b.0`, `b.1`, `b.2`, `b.3` and 4 more |',
    '| `b.taken` | 409 Conflict | It is taken. | `b.add` |',
  ]);
});

it('the index of decisions lists them by area, and refuses one without its status', () => {
  const decision = (number: string, relations = '') => ({
    name: `${number}-keys.md`,
    text: `# ${number}: Keys\n\nAccepted, 2026-11-19. Area: Inbox.${relations}\n\n**Context.** It is.\n`,
  });
  const replaced = decision('0002', ' Superseded in part. Sorting is by [0001](0001-keys.md).');
  expect(
    decisionsPage([decision('0001'), replaced])
      .split('\n')
      .slice(4),
  ).toEqual([
    '## Inbox',
    '',
    '| | Decision | Date | Status |',
    '|---|---|---|---|',
    '| [0001](0001-keys.md) | Keys | 2026-11-19 | accepted |',
    '| [0002](0002-keys.md) | Keys | 2026-11-19 | superseded in part by 0001 |',
    '',
  ]);
  expect(() => decisionsPage([{ name: '0003-keys.md', text: '# 0003: Keys\n\nAccepted.\n' }])).toThrow(
    '0003-keys.md has to begin with',
  );
});
