import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { tableName } from './lake.ts';

export type Bronze = {
  // Keys of items whose changes were committed since the last call, as another program finds them in the files.
  readNew(): Promise<string[]>;
};

type Commit = { add?: { path: string }[] };

// Reads the lake's folder from outside: its list of commits, and the Parquet files that they list.
export function openBronze(lake: string): Bronze {
  const commits = join(lake, 'manifest', tableName, 'commits');
  const seen = new Set<string>();
  return {
    async readNew() {
      const names = await readdir(commits).catch((): string[] => []); // nothing was committed yet
      const keys: string[] = [];
      for (const name of names.filter(name => name.endsWith('.json') && !seen.has(name))) {
        seen.add(name);
        const { add = [] } = JSON.parse(await readFile(join(commits, name), 'utf8')) as Commit;
        for (const { path } of add) {
          const { buffer, byteOffset, byteLength } = await readFile(join(lake, path));
          const file = buffer.slice(byteOffset, byteOffset + byteLength);
          const rows = await parquetReadObjects({ file, columns: ['key'] });
          keys.push(...rows.map(({ key }) => String(key)));
        }
      }
      return keys;
    },
  };
}
