import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { signDelivery } from '../src/signatures/signing.ts';

// The samples of the page, word for word, with what Stak really sends. Each is called by a few lines of its language,
// which print "valid" or "refused". Languages that are not on this machine are left out.

const page = join(import.meta.dirname, '../../../docs/guides/verify-a-signature.md');

type Sample = {
  command: string; // that has to be there
  files: (sample: string) => Record<string, string>;
  prepare?: string; // compiles them
  run: string; // in a folder with these files, and `body`
};

const headerNames = {
  'webhook-id': 'ID',
  'webhook-timestamp': 'TIMESTAMP',
  'webhook-signature': 'SIGNATURE',
};
const headersIn = (pair: (name: string, variable: string) => string, between = ', '): string =>
  Object.entries(headerNames)
    .map(([name, variable]) => pair(name, variable))
    .join(between);

const samples: Readonly<Record<string, Sample>> = {
  ts: {
    command: 'node',
    files: sample => ({
      'sample.mts': `${sample}
import { readFileSync } from 'node:fs';
const headers = new Headers({ ${headersIn((name, variable) => `'${name}': process.env.${variable}!`)} });
console.log(verify(process.env.SECRET!, headers, readFileSync('body')) ? 'valid' : 'refused');`,
    }),
    run: `${process.execPath} --import ${import.meta.resolve('tsx')} sample.mts`,
  },
  python: {
    command: 'python3',
    files: sample => ({
      'sample.py': `${sample}
import os
headers = {${headersIn((name, variable) => `"${name}": os.environ["${variable}"]`)}}
print("valid" if verify(os.environ["SECRET"], headers, open("body", "rb").read()) else "refused")`,
    }),
    run: 'python3 sample.py',
  },
  go: {
    command: 'go',
    files: sample => ({
      'sample.go': sample.replace('package webhooks', 'package main'),
      'main.go': `package main
import http "net/http"
import os "os"
func main() {
  header := http.Header{}
  ${headersIn((name, variable) => `header.Set("${name}", os.Getenv("${variable}"))`, '\n  ')}
  body, _ := os.ReadFile("body")
  if Verify(os.Getenv("SECRET"), header, body) { os.Stdout.WriteString("valid") } else { os.Stdout.WriteString("refused") }
}`,
    }),
    prepare: 'go build -o sample main.go sample.go',
    run: './sample',
  },
  ruby: {
    command: 'ruby',
    files: sample => ({
      'sample.rb': `${sample}
headers = { ${headersIn((name, variable) => `"${name}" => ENV["${variable}"]`)} }
puts verify(ENV["SECRET"], headers, File.binread("body")) ? "valid" : "refused"`,
    }),
    run: 'ruby sample.rb',
  },
  php: {
    command: 'php',
    files: sample => ({
      'sample.php': `${sample}
$headers = [${headersIn((name, variable) => `'${name}' => getenv('${variable}')`)}];
echo verify(getenv('SECRET'), $headers, file_get_contents('body')) ? 'valid' : 'refused';`,
    }),
    run: 'php sample.php',
  },
  java: {
    command: 'javac',
    files: sample => {
      const at = sample.indexOf('class Webhooks');
      return {
        'Main.java': `${sample.slice(0, at)}
class Main {
  public static void main(String[] args) throws Exception {
    Map<String, String> headers = new java.util.HashMap<>();
    ${headersIn((name, variable) => `headers.put("${name}", System.getenv("${variable}"));`, '\n    ')}
    byte[] body = java.nio.file.Files.readAllBytes(java.nio.file.Path.of("body"));
    System.out.println(Webhooks.verify(System.getenv("SECRET"), headers, body) ? "valid" : "refused");
  }
}
${sample.slice(at)}`,
      };
    },
    prepare: 'javac Main.java',
    run: 'java Main',
  },
  bash: { command: 'openssl', files: sample => ({ 'sample.sh': sample }), run: 'bash sample.sh' },
};

const isHere = (command: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`]);
    return true;
  } catch {
    return false;
  }
};
const here = Object.entries(samples).filter(([, { command }]) => isHere(command));

async function sampleOf(language: string): Promise<string> {
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\n\`\`\``);
  return block.exec(await readFile(page, 'utf8'))![1]!;
}

it.each(here)('the sample in %s knows what Stak sent from everything else', async (language, sample) => {
  const folder = await mkdtemp(join(tmpdir(), `stak-verify-${language}-`));
  onTestFinished(() => rm(folder, { recursive: true }));
  const body = Buffer.from('{"type":"order.paid","name":"Zoë \\u0000"}\n');
  await writeFile(join(folder, 'body'), body);
  for (const [name, text] of Object.entries(sample.files(await sampleOf(language))))
    await writeFile(join(folder, name), text);
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const old = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
  const timestampS = Math.floor(Date.now() / 1000);
  const sign = (secrets: string[], at = timestampS) =>
    Object.fromEntries(signDelivery({ secrets, eventId: 'evt_1', timestampS: at, body }));
  const shell = promisify(execFile);
  if (sample.prepare !== undefined) await shell('sh', ['-c', sample.prepare], { cwd: folder });
  const judge = async (headers: Record<string, string>) => {
    const variables = Object.entries(headerNames).map(([name, variable]) => [variable, headers[name]]);
    const env = { ...process.env, ...Object.fromEntries(variables), SECRET: secret };
    return (await shell('sh', ['-c', sample.run], { cwd: folder, env })).stdout.trim();
  };
  const valid = sign([secret]);
  expect(await judge(valid)).toBe('valid');
  expect(await judge(sign([old, secret]))).toBe('valid'); // while the secret is rotated
  expect(await judge(sign([old]))).toBe('refused');
  expect(await judge({ ...valid, 'webhook-id': 'evt_2' })).toBe('refused');
  expect(await judge({ ...valid, 'webhook-signature': 'v1,Zm9v v2 é' })).toBe('refused');
  expect(await judge(sign([secret], timestampS - 3_600))).toBe('refused');
  await writeFile(join(folder, 'body'), `${body} `);
  expect(await judge(valid)).toBe('refused');
});

it('has a sample for every language that it names', async () => {
  for (const language of Object.keys(samples)) expect(await sampleOf(language)).not.toBe('');
});
