import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

// In a single process the browser ends with its first window; and pages shall be held back as they are elsewhere.
const unwanted = ['--single-process', '--disable-web-security', '--allow-running-insecure-content'];
chromium.setGraphicsMode = false; // nothing here draws in three dimensions, which the processor would have to do
const args = chromium.args.filter(arg => !unwanted.includes(arg));

// A browser that hangs is none: nothing else ends a file that does not finish loading.
const timeout = 90_000;

// The one of this machine, else the one from npm where it runs, else none.
export async function openBrowser(): Promise<Browser | undefined> {
  const installed = await driver.launch({ channel: 'chrome', timeout }).catch(() => undefined);
  if (installed || process.platform !== 'linux') return installed;
  try {
    return await driver.launch({ executablePath: await unpack(), args, timeout });
  } catch {
    return undefined;
  }
}

// It unpacks itself into the folder for temporary files, where another process would find it half written. So it gets
// a folder of its own, which takes its place when it is whole.
async function unpack(): Promise<string> {
  const folder = join(tmpdir(), 'stak-chromium');
  if (!existsSync(folder)) {
    const draft = await mkdtemp(`${folder}-`);
    const script = `import(${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))}).then(({ default: chromium }) => chromium.executablePath())`;
    await promisify(execFile)(process.execPath, ['-e', script], {
      env: { ...process.env, TMPDIR: draft },
      timeout,
    });
    await rename(draft, folder).catch(() => rm(draft, { recursive: true })); // somebody else was first
  }
  return join(folder, 'chromium');
}
