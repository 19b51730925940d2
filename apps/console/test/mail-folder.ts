import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, vi } from 'vitest';

export type MailFolder = Awaited<ReturnType<typeof openMailFolder>>;

/** Where a server puts the mails that it would send. */
export async function openMailFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'stak-console-mail-'));
  return {
    url: pathToFileURL(folder).href, // for STAK_SMTP_URL
    /** The link of the newest mail with this subject to somebody, when it has come. */
    linkTo: (email: string, subject: string): Promise<string> =>
      vi.waitFor(async () => {
        const files = (await readdir(folder)).filter(name => name.endsWith('.eml')).toSorted();
        const texts = await Promise.all(files.map(name => readFile(join(folder, name), 'utf8')));
        const found = texts.findLast(
          text => text.includes(`To: ${email}`) && text.includes(`Subject: ${subject}`),
        );
        const link = found
          ?.replaceAll('=\r\n', '')
          .replaceAll('=3D', '=')
          .match(/^http\S+#token=\S+$/m)?.[0];
        expect(link, `${subject} to ${email}`).toBeDefined();
        return link!;
      }, 15_000),
    close: () => rm(folder, { recursive: true }),
  };
}
