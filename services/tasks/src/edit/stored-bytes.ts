import * as limits from '../limits.ts';

// An edit that finishes, moves or renames a task keeps no more than before: 0 bytes.
export const updateBytes = (sentBytes: number): number =>
  sentBytes <= limits.smallEditBytes ? 0 : sentBytes;

export function bulkBytes(_: number, { items }: { items: readonly { set?: object }[] }): number {
  const bytes = items.map(({ set }) => (set ? Buffer.byteLength(JSON.stringify(set)) : 0));
  return bytes.every(each => updateBytes(each) === 0) ? 0 : bytes.reduce((sum, each) => sum + each, 0);
}
