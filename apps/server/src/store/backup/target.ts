import type { ObjectStore } from '@stak/lake/maintenance';
import { withDeadline } from '@stak/table';
import type { SecretKey } from '../../config/secrets.ts';
import * as limits from './limits.ts';
import { BackupError, type Facts, inspectObject, type Opened, openObject } from './sealed-object.ts';

// The layout of a backup's folder or bucket. A history is an unbroken log of commits, with snapshots to start from.
// Segments of the log are numbered, and many small ones become one bundle: their objects, concatenated.
//
//   <history>/head
//   <history>/log/<segment>, or <first segment>-<last segment>
//   <history>/snapshots/<commit>-<time>-<segment before it>/<part>, and manifest

export type TargetObjects = Pick<ObjectStore, 'get' | 'put' | 'putIfAbsent' | 'list' | 'delete'>;

export type LogObject = { key: string; from: number; to: number; bytes: number };
export type SnapshotFolder = {
  folder: string;
  history: string;
  commit: number;
  at: number;
  after: number; // every commit that the snapshot lacks is in a segment after this one
  isComplete: boolean;
  parts: string[];
  bytes: number;
};
export type History = {
  id: string;
  log: LogObject[]; // in order, without segments that are also in a bundle
  bundled: LogObject[]; // those
  snapshots: SnapshotFolder[]; // in order
  bytes: number;
  changedAt: number;
};

const digits = (value: number, length: number): string => String(value).padStart(length, '0');
const historyShape = '\\d{8}T\\d{9}Z-[0-9a-f]{8}';
const logShape = new RegExp(`^(${historyShape})/log/(\\d+)(?:-(\\d+))?$`);
const partShape = new RegExp(`^(${historyShape})/snapshots/(\\d+)-(\\d+)-(\\d+)/(\\d+|manifest)$`);
const headShape = new RegExp(`^(${historyShape})/head$`);

// A history is named after the time at which it started.
const stampShape = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/;
export const beganAt = ({ id }: Pick<History, 'id'>): number =>
  Date.parse(id.replace(stampShape, '$1-$2-$3T$4:$5:$6.$7Z'));

export const headKey = (history: string): string => `${history}/head`;
export const logFolder = (history: string): string => `${history}/log/`;
// A segment is named by its number alone: of two writers, or two attempts of one, the first gets it.
export const segmentKey = (history: string, number: number): string =>
  `${logFolder(history)}${digits(number, 10)}`;
export const bundleKey = (history: string, from: number, to: number): string =>
  `${segmentKey(history, from)}-${digits(to, 10)}`;
export const snapshotFolder = (history: string, commit: number, at: number, after: number): string =>
  `${history}/snapshots/${digits(commit, 14)}-${digits(Math.floor(at), 14)}-${digits(after, 10)}`;
export const partKey = (folder: string, part: number): string => `${folder}/${digits(part, 8)}`;
export const manifestKey = (folder: string): string => `${folder}/manifest`;

// All histories, oldest first. Objects with other names are not ours.
export async function listHistories(objects: TargetObjects, prefix = ''): Promise<History[]> {
  const histories = new Map<string, History>();
  for await (const { key, bytes, changedAt } of objects.list(prefix)) {
    const match = logShape.exec(key) ?? partShape.exec(key) ?? headShape.exec(key);
    if (!match) continue;
    const id = match[1]!;
    const history = histories.get(id) ?? newHistory(id);
    histories.set(id, history);
    history.bytes += bytes;
    history.changedAt = Math.max(history.changedAt, changedAt);
    const [, , from, to = from] = logShape.exec(key) ?? [];
    if (from !== undefined) history.log.push({ key, from: Number(from), to: Number(to), bytes });
    else noteSnapshot(history, key, bytes);
  }
  for (const history of histories.values()) {
    const bundles = history.log.filter(({ from, to }) => to > from);
    const isBundled = (logObject: LogObject) =>
      bundles.some(
        bundle => bundle !== logObject && bundle.from <= logObject.from && logObject.to <= bundle.to,
      );
    history.bundled = history.log.filter(isBundled);
    history.log = history.log.filter(object => !isBundled(object)).sort((a, b) => a.from - b.from);
    history.snapshots.sort((a, b) => a.commit - b.commit || a.at - b.at);
  }
  return [...histories.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

const newHistory = (id: string): History => ({
  id,
  log: [],
  bundled: [],
  snapshots: [],
  bytes: 0,
  changedAt: 0,
});

function noteSnapshot(history: History, key: string, bytes: number): void {
  const [, , commit, at, after, name] = partShape.exec(key) ?? [];
  if (commit === undefined) return;
  const folder = key.slice(0, key.lastIndexOf('/'));
  let snapshot = history.snapshots.find(candidate => candidate.folder === folder);
  if (!snapshot) {
    const facts = { history: history.id, commit: Number(commit), at: Number(at), after: Number(after) };
    snapshot = { folder, ...facts, isComplete: false, parts: [], bytes: 0 };
    history.snapshots.push(snapshot);
  }
  snapshot.bytes += bytes;
  if (name === 'manifest') snapshot.isComplete = true;
  else snapshot.parts.push(key);
}

export type Target = { objects: TargetObjects; keys: readonly SecretKey[] };

export async function getObject(
  { objects }: Pick<Target, 'objects'>,
  key: string,
): Promise<Buffer | undefined> {
  const bytes = await withDeadline(limits.callMs, () => objects.get(key));
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export const putObject = ({ objects }: Pick<Target, 'objects'>, key: string, bytes: Buffer): Promise<void> =>
  withDeadline(limits.callMs, () => objects.put(key, bytes));

// Reads an object that contains one, and must exist.
export async function readObject<K extends Facts['kind']>(
  target: Target,
  kind: K,
  key: string,
): Promise<Opened<K>> {
  const bytes = await getObject(target, key);
  if (!bytes) throw new BackupError(`${key} is missing`);
  const inspected = inspectObject(bytes, key);
  if (inspected.end !== bytes.length)
    throw new BackupError(`${key} is damaged: it is longer than it should be`);
  return openObject(kind, inspected, { name: key, keys: target.keys });
}

export async function findHead(
  target: Target,
  history: string,
): Promise<Opened<'head'>['facts'] | undefined> {
  const bytes = await getObject(target, headKey(history));
  if (!bytes) return undefined;
  const name = headKey(history);
  const { facts } = await openObject('head', inspectObject(bytes, name), { name, keys: target.keys });
  if (facts.history !== history) throw new BackupError(`${name} is the head of another history`);
  return facts;
}

export async function getLogObject(target: Target, object: LogObject): Promise<Buffer> {
  const bytes = await getObject(target, object.key);
  if (!bytes) throw new BackupError(`segment ${describeSegments(object)} is missing: ${object.key}`);
  return bytes;
}

type Inspected = ReturnType<typeof inspectObject> & { name: string };

// The segments in an object of the log, each with a name for error messages.
export function* inspectSegments(object: LogObject, bytes: Buffer): Generator<Inspected> {
  let count = 0;
  for (let offset = 0; offset < bytes.length; count++) {
    const name = `segment ${object.from + count} (${object.key})`;
    const inspected = inspectObject(bytes.subarray(offset), name);
    yield { ...inspected, name };
    offset += inspected.end;
  }
  if (count !== object.to - object.from + 1)
    throw new BackupError(`segments are missing at the end of ${object.key}`);
}

export const openSegment = ({ keys }: Target, inspected: Inspected): Promise<Opened<'log'>> =>
  openObject('log', inspected, { name: inspected.name, keys });

export async function readLastSegment(target: Target, object: LogObject): Promise<Opened<'log'>> {
  const segments = [...inspectSegments(object, await getLogObject(target, object))];
  return openSegment(target, segments.at(-1)!);
}

/** The last known moment of a history. */
export async function findEnd(
  target: Target,
  { log, snapshots }: History,
  head: Opened<'head'>['facts'] | undefined,
): Promise<number> {
  const last = log.at(-1);
  const lastAt = last ? (await readLastSegment(target, last)).facts.lastAt : 0;
  const complete = snapshots.filter(({ isComplete }) => isComplete);
  return Math.max(lastAt, head?.coveredUntil ?? 0, ...complete.map(({ at }) => at));
}

export const describeSegments = ({ from, to }: { from: number; to: number }): string =>
  from === to ? String(from) : `${from} to ${to}`;
