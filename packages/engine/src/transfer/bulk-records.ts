import type { StartBulkPutItemsInput } from '../validation/bulk-operations.ts';
import { type TransferRecord, transferRecords } from './records.ts';

// A list, because an index may have the name of a member that every object has.
export type BytesByIndex = [name: string, bytes: number][];

/** How far a bulk operation is. Saved with the items of each batch, so that a crash repeats none of them. */
export type BulkProgress = {
  file: string; // the one that is read, and how many of its lines are done
  lines: number;
  earlierBytes: number; // of the files before it
  bytes: number;
  processed: number;
  failed: number;
  reported: number;
  usage: { table: number; indexes: BytesByIndex; vectors: BytesByIndex };
};

export type BulkPut = TransferRecord & {
  input: StartBulkPutItemsInput;
  tableId: number;
  tableUuid: string;
  endedAt?: number;
  isCancelled?: true;
  hasReport?: true; // its files are written
  progress: BulkProgress;
  failure?: { code: string; message: string };
};

export const noProgress = (): BulkProgress => ({
  file: '',
  lines: 0,
  earlierBytes: 0,
  bytes: 0,
  processed: 0,
  failed: 0,
  reported: 0,
  usage: { table: 0, indexes: [], vectors: [] },
});

export const bulkRecords = transferRecords<BulkPut>('bulk-operation');
