import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

export type Page = { file: string; section?: string };
export type Guide = { pages: readonly Page[]; url: string; home: string; folder: string };

// Runs every ```sh block of the pages in one shell, as a reader would. A request that is refused ends it, unless the
// page says so with `curl -i`.
export async function runGuide({ pages, url, home, folder }: Guide): Promise<string> {
  const name = pages.map(({ file }) => file).join(' and ');
  const blocks = (await Promise.all(pages.map(readBlocks))).flat();
  if (blocks.length === 0) throw new Error(`${name}: there is nothing to run`);
  const script = [
    'set -euo pipefail',
    'curl() {',
    '  case " $* " in',
    '    *" -N "*|*" -sN "*) timeout 1 curl "$@" || true;; # a stream has no end: a second of it will do',
    '    *" -i "*) command curl "$@";;',
    '    *) command curl --fail-with-body "$@";;',
    '  esac',
    '}',
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
  if (code !== 0) throw new Error(`${name} ended with ${code}:\n${output}`);
  return output;
}

async function readBlocks({ file, section }: Page): Promise<string[]> {
  const page = await readFile(file, 'utf8');
  return shellBlocks(section === undefined ? page : sectionOf(page, section));
}

function sectionOf(page: string, title: string): string {
  const [, after] = page.split(`\n## ${title}\n`);
  if (after === undefined) throw new Error(`There is no section "${title}"`);
  return after.split('\n## ')[0]!;
}

const shellBlocks = (page: string): string[] =>
  [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(found => found[1]!);
