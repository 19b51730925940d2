import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

export type Guide = { file: string; url: string; home: string; folder: string; section?: string };

// Runs every ```sh block of a page in one shell, as a reader would. A request that is refused ends it, unless the
// page says so with `curl -i`.
export async function runGuide({ file, url, home, folder, section }: Guide): Promise<string> {
  const page = await readFile(file, 'utf8');
  const blocks = shellBlocks(section === undefined ? page : sectionOf(page, section));
  if (blocks.length === 0) throw new Error(`${file} has nothing to run`);
  const script = [
    'set -euo pipefail',
    'curl() { case " $* " in *" -i "*|*" -sN "*) command curl "$@";; *) command curl --fail-with-body "$@";; esac; }',
    ...blocks.map(block => block.replaceAll('http://127.0.0.1:8787', url)),
  ].join('\n');
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, XDG_CONFIG_HOME: home, STAK_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk;
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${file} ended with ${code}:\n${output}`);
  return output;
}

function sectionOf(page: string, title: string): string {
  const [, after] = page.split(`\n## ${title}\n`);
  if (after === undefined) throw new Error(`There is no section "${title}"`);
  return after.split('\n## ')[0]!;
}

const shellBlocks = (page: string): string[] =>
  [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(found => found[1]!);
