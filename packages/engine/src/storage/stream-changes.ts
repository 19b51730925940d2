// The newest sequence of each stream that a commit wrote to. Undefined means anything: shards were opened or closed, a
// stream was enabled or dropped, or too many streams to name.
export type StreamChanges = ReadonlyMap<number, number> | undefined;

const streamsNamed = 64; // a server has about ten streams; a longer list costs more than looking at all of them

// Collects the changes of several commits. A later sequence of a stream includes the earlier ones.
export function mergeChanges(earlier: StreamChanges, later: StreamChanges): StreamChanges {
  if (!earlier || !later) return undefined;
  if (earlier.size === 0) return later;
  const merged = new Map(earlier);
  for (const [streamId, sequence] of later)
    merged.set(streamId, Math.max(sequence, merged.get(streamId) ?? 0));
  return merged.size > streamsNamed ? undefined : merged;
}

export const noChanges: StreamChanges = new Map();

const listMark = '+';

// One line for other processes, without its end. An empty line means anything, as in earlier versions, which take every
// other line that they cannot read for the same.
export function formatChanges(changes: StreamChanges): string {
  if (!changes || changes.size > streamsNamed) return '';
  return listMark + Array.from(changes, ([streamId, sequence]) => `${streamId}:${sequence}`).join(',');
}

export const isReport = (line: string): boolean => line === '' || line.startsWith(listMark);

export function parseChanges(line: string): StreamChanges {
  if (line === listMark) return noChanges;
  const changes = new Map<number, number>();
  for (const entry of line.slice(listMark.length).split(',')) {
    const match = /^(\d{1,15}):(\d{1,15})$/.exec(entry);
    if (!match) return undefined;
    changes.set(Number(match[1]), Number(match[2]));
  }
  return changes;
}
