import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bin, runHere } from './command.ts';

// The files that Node loads before the command knows what was asked of it.
async function loadedAtOnce(file: string, seen = new Map<string, string>()): Promise<Map<string, string>> {
  if (seen.has(file)) return seen;
  const text = await readFile(file, 'utf8');
  seen.set(file, text);
  for (const [, name] of text.matchAll(/^(?:import|export)\b[^;'"]*["']\.\/([^"']+)["'];/gm))
    await loadedAtOnce(join(dirname(file), name!), seen);
  return seen;
}

test('help is printed without loading anything else', async () => {
  const texts = [...(await loadedAtOnce(bin)).values()];
  const kilobytes = texts.reduce((sum, text) => sum + text.length, 0) / 1024;
  expect(kilobytes).toBeLessThan(150); // 80 when this was written; zod alone is 740
  const packages = texts.flatMap(text => [...text.matchAll(/^\/\/ (?:packages|services)\/(\S+)/gm)]);
  expect(packages.map(([line]) => line)).toEqual([]);
});

describe('completion', () => {
  const complete = async (line: string): Promise<string[]> => {
    const { stdout: script } = await runHere('completion', 'bash');
    const program = `${script}
COMP_WORDS=(${line
      .split(' ')
      .map(word => `'${word}'`)
      .join(' ')})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_stak
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', program]);
    return stdout.split('\n').filter(word => word !== '');
  };

  test('offers commands, their actions and their options', async () => {
    expect(await complete('stak st')).toEqual(['start', 'streams', 'storage']);
    expect(await complete('stak keys ')).toEqual(['list', 'create', 'delete']);
    expect(await complete('stak keys create --s')).toEqual(['--scope']);
    expect(await complete('stak completion f')).toEqual(['fish']);
    expect(await complete('stak tables list --j')).toEqual(['--json']);
  });

  test.each(['zsh', 'fish'])('includes every command in %s', async shell => {
    const { stdout, code } = await runHere('completion', shell);
    expect(code).toBe(0);
    for (const word of ['start', 'completion', 'secrets', 'reseal']) expect(stdout).toContain(word);
    expect(stdout).toContain(shell === 'zsh' ? "'--url:" : '-l url');
    const quotes = stdout.split('\n').filter(line => line.split("'").length % 2 === 0);
    expect(quotes, 'every quote is closed on its line').toEqual([]);
  });

  test('refuses another shell', async () => {
    expect(await runHere('completion', 'tcsh')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('knows bash, zsh, fish'),
    });
  });
});

test('lists are printed as JSON on request', async () => {
  const { stdout } = await runHere('tables', 'list', '--json');
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ name: 'tenants' }));
});

test('every command prints JSON on request, except those with nothing to list', async () => {
  const { stdout } = await runHere('completion', 'fish');
  const commands = [...stdout.matchAll(/__fish_use_subcommand -f -a (\S+)/g)].map(([, name]) => name!);
  expect(commands).toContain('tables');
  const without = commands.filter(name => !stdout.includes(`'__fish_seen_subcommand_from ${name}' -l json`));
  expect(without.toSorted()).toEqual([
    'aws', // prints the template, which is JSON
    'chat',
    'completion',
    'demo',
    'login',
    'logout',
    'mcp',
    'migrate',
    'restore',
    'start',
    'tokens', // prints a token and nothing else
  ]);
});
