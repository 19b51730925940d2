import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

// `stak login` stores this for each server, in a file that only its owner can read.
type Credentials = {
  email: string;
  refreshToken: string;
  accessToken: string;
  accessEndsMs: number;
};

type CredentialFile = { current?: string; servers: Record<string, Credentials> };

export type CredentialStore = {
  // The server of the last sign-in.
  currentUrl(): Promise<string | undefined>;
  read(url: string): Promise<Credentials | undefined>;
  write(url: string, credentials: Credentials): Promise<void>;
  remove(url: string): Promise<void>;
  // Runs one process at a time. A refresh token works once: a second use looks like theft and ends the session.
  exclusively<T>(work: () => Promise<T>): Promise<T>;
};

const staleLockMs = 30_000; // longer than any refresh takes: the holder of an older lock was killed
const retryMs = 50;

export function createCredentialStore(home: string): CredentialStore {
  const file = join(home, 'stak', 'credentials.json');
  const lock = `${file}.lock`;

  const load = async (): Promise<CredentialFile> => {
    try {
      return JSON.parse(await readFile(file, 'utf8')) as CredentialFile;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError)
        return { servers: {} };
      throw error;
    }
  };

  // Written to a draft and renamed, so that a crash leaves the old file.
  const save = async (saved: CredentialFile): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  };

  const takeLock = async (): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    for (;;) {
      const handle = await open(lock, 'wx').catch(ignoreExisting);
      if (handle) return handle.close();
      const held = await stat(lock).catch(() => undefined);
      if (held && Date.now() - held.mtimeMs > staleLockMs) await rm(lock, { force: true });
      else await new Promise(resolve => setTimeout(resolve, retryMs));
    }
  };

  return {
    currentUrl: async () => (await load()).current,
    read: async url => (await load()).servers[url],
    async write(url, credentials) {
      const { servers } = await load();
      await save({ current: url, servers: { ...servers, [url]: credentials } });
    },
    async remove(url) {
      const { current, servers } = await load();
      const { [url]: _, ...rest } = servers;
      await save({ servers: rest, ...(current !== url && current !== undefined && { current }) });
    },
    async exclusively(work) {
      await takeLock();
      try {
        return await work();
      } finally {
        await rm(lock, { force: true });
      }
    },
  };
}

function ignoreExisting(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}
