import { runScript } from '../child-script.ts';
import { writeCopies } from '../copies.ts';
import { copyTasks } from '../tasks/stored-tasks.ts';
import { openLake, tableName } from './lake.ts';
import { readTemplates } from './templates.ts';

// The memory is the peak of the process (Linux only).
export type DrainResult = { changes: number; seconds: number; privateMb?: number; residentMb?: number };
export type Backlog = { few: DrainResult; many: DrainResult };
export type BacklogSettings = { few: number; many: number };

// A server that was down: all changes are in the stream when the lake starts to read.
export async function measureBacklog(folder: string, { few, many }: BacklogSettings): Promise<Backlog> {
  const drain = async (changes: number): Promise<DrainResult> => {
    const home = `${folder}-${changes}`;
    await change(home, changes);
    return runScript<DrainResult>(import.meta.resolve('./backlog-script.ts'), [home, String(changes)]);
  };
  return { few: await drain(few), many: await drain(many) };
}

export async function change(folder: string, changes: number): Promise<void> {
  const lake = await openLake(folder);
  try {
    await lake.setStream(true);
    const { tasks } = await readTemplates();
    await writeCopies(lake.client, tableName, copyTasks(tasks, 'usr_0', changes));
  } finally {
    await lake.close();
  }
}
