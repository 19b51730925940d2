import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

// A single-process browser exits with its first window, and pages have to be isolated as in real browsers.
const unwanted = ['--single-process', '--disable-web-security', '--allow-running-insecure-content'];
chromium.setGraphicsMode = false; // no page needs WebGL, which would run on the CPU
const args = chromium.args.filter(arg => !unwanted.includes(arg));

// A browser that hangs counts as missing, because nothing else would end a test file that never finishes loading.
const timeout = 90_000;

// The installed browser, or the one from npm if it runs here, or none.
export async function openBrowser(): Promise<Browser | undefined> {
  const installed = await driver.launch({ channel: 'chrome', timeout }).catch(() => undefined);
  if (installed || process.platform !== 'linux') return installed;
  try {
    return await driver.launch({ executablePath: await unpack(), args, timeout });
  } catch {
    return undefined;
  }
}

// It unpacks itself into the temporary folder, where another process could find it half written. So it unpacks into a
// separate folder, which is renamed when it is complete.
async function unpack(): Promise<string> {
  const folder = join(tmpdir(), 'stak-chromium');
  if (!existsSync(folder)) {
    const draft = await mkdtemp(`${folder}-`);
    const script = `import(${JSON.stringify(import.meta.resolve('@sparticuz/chromium'))}).then(({ default: chromium }) => chromium.executablePath())`;
    await promisify(execFile)(process.execPath, ['-e', script], {
      env: { ...process.env, TMPDIR: draft },
      timeout,
    });
    await rename(draft, folder).catch(() => rm(draft, { recursive: true })); // another process was first
  }
  return join(folder, 'chromium');
}
