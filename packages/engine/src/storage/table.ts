import type { KeyType } from '../values/attribute-value.ts';

// The stored description of a table. It is JSON in the file, so every field is plain data.
export type KeyAttribute = { name: string; type: KeyType };
// A global index can have up to four attributes in each part of its key; those past the first are in `more`.
export type KeySchema = {
  hash: KeyAttribute;
  range?: KeyAttribute;
  more?: { hash: KeyAttribute[]; range: KeyAttribute[] };
};
export type Projection = { type: 'ALL' | 'KEYS_ONLY' } | { type: 'INCLUDE'; attributes: string[] };
// `decreases` counts the decreases on the day of `decreasedAt`.
export type Throughput = {
  read: number;
  write: number;
  increasedAt?: number;
  decreasedAt?: number;
  decreases?: number;
};

export type Index = {
  id: number;
  name: string;
  kind: 'global' | 'local';
  keys: KeySchema;
  projection: Projection;
  status: 'CREATING' | 'ACTIVE' | 'DELETING';
  throughput?: Throughput;
  onDemand?: { read?: number; write?: number };
  warm?: { read?: number; write?: number };
};

export type DistanceFunction = 'COSINE' | 'EUCLIDEAN' | 'DOT_PRODUCT';

// Indexes a list of numbers. `hash` divides the index into partitions, of which a search reads one; `filters` are
// equalities that it can ask for.
export type VectorIndex = {
  id: number;
  name: string;
  attribute: string;
  dimensions: number;
  distance: DistanceFunction;
  hash?: KeyAttribute;
  filters: KeyAttribute[];
  projection: Projection;
  status: Index['status'];
};

export type StreamViewType = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';

// A shard is open while `end` is unset. Sequences are the engine's own counter.
export type Shard = {
  id: number;
  parent?: number;
  slot: number;
  start: number;
  end?: number;
  closedAt?: number;
};

export type Stream = {
  id: number;
  label: string;
  viewType: StreamViewType;
  enabled: boolean;
  createdAt: number;
  shards: Shard[];
};

export type TimeToLive = { attribute: string; status: 'ENABLING' | 'ENABLED' | 'DISABLING' };

// Settings that are stored for tools that read them; the engine does not act on them.
export type ResourcePolicy = { text: string; revision: string };
export type Insights = { enabled: boolean; mode: string; changedAt: number };
export type KinesisDestination = { arn: string; precision?: string };

// A table may come from a backup, or from another table as it was at a moment.
export type RestoredFrom = { backupArn?: string; tableArn: string; tableId: number; at: number };

export type Table = {
  id: number;
  uuid: string;
  name: string;
  createdAt: number;
  keys: KeySchema;
  indexes: Index[];
  vectors?: VectorIndex[];
  billing: 'PROVISIONED' | 'PAY_PER_REQUEST';
  throughput: Throughput;
  onDemandSince?: number;
  onDemand?: { read?: number; write?: number };
  warm?: { read?: number; write?: number };
  tableClass?: string;
  deletionProtection: boolean;
  disassociationProtection?: boolean;
  sse?: { enabled: boolean; type?: string; keyArn?: string };
  ttl?: TimeToLive;
  // The newest stream is last; disabled ones stay readable until their records are trimmed.
  streams: Stream[];
  tags: Record<string, string>;
  recovery?: { since: number; days: number };
  // It gets the items it begins with, and is neither read nor written before.
  isCreating?: true;
  restoredFrom?: RestoredFrom;
  importedBy?: string; // the key of the import's record
  // By resource: `table`, or `stream/` and its label.
  policies?: Record<string, ResourcePolicy>;
  // By index; the table's own has an empty name.
  insights?: Record<string, Insights>;
  kinesis?: KinesisDestination[];
};

export const hashAttributes = ({ hash, more }: KeySchema): KeyAttribute[] =>
  more ? [hash, ...more.hash] : [hash];

export const rangeAttributes = ({ range, more }: KeySchema): KeyAttribute[] =>
  range ? (more ? [range, ...more.range] : [range]) : [];

export const vectorsOf = (table: Table): readonly VectorIndex[] => table.vectors ?? none;
const none: readonly VectorIndex[] = [];

export const searchAttributes = ({ hash, filters }: VectorIndex): KeyAttribute[] =>
  hash ? [hash, ...filters] : filters;

export function attributesOfKey(keys: KeySchema): KeyAttribute[] {
  const { hash, range, more } = keys;
  if (more) return [...hashAttributes(keys), ...rangeAttributes(keys)];
  return range ? [hash, range] : [hash];
}
