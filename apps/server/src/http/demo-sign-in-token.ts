import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// A token that signs in to the demo once, printed when the server starts. It is stored as a file of the data folder
// that is named by its hash: removing the file uses the token up, in any process.
const prefix = 'demo-token-';
const fileOf = (folder: string, token: string): string =>
  join(folder, prefix + createHash('sha256').update(token).digest('hex'));

// Tokens of earlier starts become invalid.
export async function issueSignInToken(folder: string): Promise<string> {
  for (const name of await readdir(folder))
    if (name.startsWith(prefix)) await rm(join(folder, name), { force: true });
  const token = randomBytes(24).toString('base64url');
  await writeFile(fileOf(folder, token), '', { mode: 0o600 });
  return token;
}

// Returns whether it was valid; it is used up now.
export async function useSignInToken(folder: string, token: string): Promise<boolean> {
  try {
    await unlink(fileOf(folder, token));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
