import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// The contents of demo.json in the data folder.
export type Demo = {
  email: string;
  password: string;
  isFilled: boolean;
  startMs?: number;
  accountId?: string; // absent in files of earlier versions
};

const demoFile = (folder: string): string => join(folder, 'demo.json');

export async function readDemo(folder: string): Promise<Demo | undefined> {
  try {
    return JSON.parse(await readFile(demoFile(folder), 'utf8')) as Demo;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function saveDemo(folder: string, demo: Demo): Promise<void> {
  const file = demoFile(folder);
  await writeFile(`${file}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

export const removeDemo = (folder: string): Promise<void> => rm(demoFile(folder), { force: true });
