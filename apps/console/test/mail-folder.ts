import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, vi } from 'vitest';

export type MailFolder = Awaited<ReturnType<typeof openMailFolder>>;

/** The folder to which a server writes its e-mails instead of sending them. */
export async function openMailFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'stak-console-mail-'));
  const find = async (email: string, subject: string): Promise<string | undefined> => {
    const files = (await readdir(folder)).filter(name => name.endsWith('.eml')).toSorted();
    const texts = await Promise.all(files.map(name => readFile(join(folder, name), 'utf8')));
    return texts
      .findLast(text => text.includes(`To: ${email}`) && text.includes(`Subject: ${subject}`))
      ?.replaceAll('=\r\n', '')
      .replaceAll('=3D', '=')
      .replaceAll('\r\n', '\n');
  };
  /** Waits for the newest e-mail with this subject to somebody. */
  const textTo = (email: string, subject: string): Promise<string> =>
    vi.waitFor(async () => {
      const found = await find(email, subject);
      expect(found, `${subject} to ${email}`).toBeDefined();
      return found!;
    }, 30_000);
  return {
    url: pathToFileURL(folder).href, // for STAK_SMTP_URL
    find,
    textTo,
    /** The link in that e-mail: the one with a token, unless another pattern is given. */
    async linkTo(email: string, subject: string, link = /^http\S+#token=\S+$/m): Promise<string> {
      const [found] = link.exec(await textTo(email, subject)) ?? [];
      expect(found, `link of ${subject} to ${email}`).toBeDefined();
      return found!;
    },
    close: () => rm(folder, { recursive: true }),
  };
}
