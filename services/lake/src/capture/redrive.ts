import type { LakeTable } from '../lake-table.ts';
import { createBronzeFiles } from './bronze-writer.ts';
import { putFiles } from './capture.ts';
import { openLetter } from './dead-letters.ts';
import { rowsOf, wantedRows } from './rows.ts';

// Tries the letters again, oldest first. A letter becomes rows in the same commit that removes it from the list: after
// a crash it is either a letter or rows, never both. Returns how many are left.
export async function redriveLetters(lakeTable: LakeTable): Promise<{ redriven: number; left: number }> {
  const { manifest, objects, plan, texts, clock, log } = lakeTable;
  const letters = [...(await manifest.read()).letters];
  let redriven = 0;
  for (const { path, generation } of letters) {
    const body = await objects.get(path);
    if (!body) continue;
    const { shard, change } = openLetter(body);
    try {
      const entry = await manifest.commit(async state => {
        if (!state.letters.some(letter => letter.path === path)) return undefined;
        const now = await texts.read();
        const found = await wantedRows(rowsOf(plan, change, now.isAnyOn), now);
        const files = await createBronzeFiles(`redriven-${shard}`, generation);
        // Later changes were captured long ago, so nothing continues from it.
        for (const row of found) files.add({ ...row, isChained: false });
        const add = await putFiles(lakeTable, `redriven-${shard}`, files.finish());
        return { at: clock.now(), add, answered: [path] };
      });
      if (entry) redriven += 1;
      await objects.delete(path);
    } catch (error) {
      log.warn({ err: error, letter: path }, 'dead letter failed again');
    }
  }
  return { redriven, left: (await manifest.read()).letters.length };
}
