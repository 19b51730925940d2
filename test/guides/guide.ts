import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';

export type Page = { file: string; section?: string };
export type Reader = {
  folder: string; // where `npm start` runs
  stak?: string; // the program instead of the one that npx finds
  env: Record<string, string>;
  isAlone?: boolean; // nothing but `env` goes to the shell
};

// Runs every ```sh block of a page, word for word, in a shell of its own: what the page needs from another one is what
// that one exports, and comes back with the output. A request that is refused ends it, unless the page shows the status
// itself, with `curl -i` or `%{http_code}`.
export async function runGuide(page: Page, { folder, stak, env, isAlone = false }: Reader) {
  const blocks = await readBlocks(page);
  if (blocks.length === 0) throw new Error(`${page.file}: there is nothing to run`);
  const script = [
    'set -euo pipefail',
    'curl() {',
    '  case " $* " in',
    '    *" --max-time "*) command curl "$@";;',
    '    *" -N "*|*" -sN "*) timeout 2 curl "$@" || true;; # a stream has no end: two seconds of it will do',
    '    *" -i "*|*"%{http_code}"*) command curl "$@";;',
    '    *) command curl --fail-with-body "$@";;',
    '  esac',
    '}',
    // Faster than npx. test/packed runs pages with the real one.
    stak &&
      `npx() { [ "$1 $2" = '--no-install stak' ] || return 1; shift 2; '${process.execPath}' '${stak}' "$@"; }`,
    // A page that stops the server of a machine stops the one whose process this is.
    'systemctl() { kill "$SERVER_PID"; while kill -0 "$SERVER_PID" 2>/dev/null; do sleep 0.1; done; }',
    ...blocks,
    'wait',
    'env -0 >&3',
  ]
    .filter(line => line !== undefined)
    .join('\n');
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...(!isAlone && process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let exported = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', chunk => {
      output += chunk;
    });
  child.stdio[3]!.on('data', (chunk: Buffer) => {
    exported += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${page.file} ended with ${code}:\n${output}`);
  const variables = exported.split('\0').map(line => line.split(/=(.*)/s).slice(0, 2));
  return { output, exported: Object.fromEntries(variables) as Record<string, string> };
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
