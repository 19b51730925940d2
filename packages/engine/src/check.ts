import { checkExpiryEntry, checkIndexEntry, checkToken, checkTokenExpiry } from './check/entries.ts';
import { beginCheck, type Check, type Report } from './check/findings.ts';
import { checkItem } from './check/items.ts';
import { checkLogRecord, checkNewestRecords } from './check/log.ts';
import { checkVector, checkVectorBlock, checkVectorEntry, isOfVectors } from './check/vectors.ts';
import type { Context } from './context.ts';
import { encodeSizes, readSize, type Tx } from './storage/committer.ts';
import { checkPages } from './storage/file.ts';
import { sizeKey, space, tableKey } from './storage/keys.ts';
import { copyBytes, readMeta } from './storage/store.ts';
import { type Table, vectorsOf } from './storage/table.ts';

export type { Report } from './check/findings.ts';

const everything = { start: Buffer.from([space.item]), end: Buffer.from([0xff]) };

// Reads the whole store once, in one snapshot, and reports inconsistencies (`repair.ts` puts them right). LMDB would trust
// damaged pages, so only those are reported if there are any.
export const checkStore = (context: Context): Report => runCheck(context).report;

export function runCheck(context: Context): Check {
  const check = beginCheck(context);
  for (const { page, message } of checkPages(context.store.file)) check.addPage(page, message);
  if (check.report.problemCount > 0) return check;
  for (const { key, value } of context.store.range(everything, copyBytes)) checkRecord(check, key, value);
  checkNewestRecords(check);
  for (const table of check.known.tables.values()) checkTable(check, table);
  return check;
}

function checkRecord(check: Check, key: Buffer, value: Buffer): void {
  const { known, report } = check;
  const id = key.length < 5 ? -1 : key.readUInt32BE(1);
  switch (key[0]) {
    case space.item: {
      const table = known.tables.get(id);
      report.items++;
      if (table) checkItem(check, table, key, value);
      else if (!known.isGarbage(key)) check.add('item', key, 'an item without a table');
      return;
    }
    case space.index: {
      const index = known.indexes.get(id);
      report.indexEntries++;
      if (index) checkIndexEntry(check, index.table, index.index, key, value);
      else if (!known.isGarbage(key)) check.add('index', key, 'an entry without an index');
      return;
    }
    case space.ttl: {
      const table = known.tables.get(id);
      report.ttlEntries++;
      if (table) checkExpiryEntry(check, table, key);
      else if (!known.isGarbage(key)) check.add('ttl', key, 'a TTL entry without a table');
      return;
    }
    case space.log: {
      const entry = known.streams.get(id);
      report.logRecords++;
      if (entry) checkLogRecord(check, entry, key, value);
      else check.add('log', key, 'a change record without a stream');
      return;
    }
    case space.token:
      report.tokens++;
      checkToken(check, key, value);
      return;
    case space.tokenExpiry:
      checkTokenExpiry(check, key);
      return;
    case space.vectorEntry:
      checkVectorEntry(check, key, value);
      return;
    case space.vector:
      checkVector(check, key, value);
      return;
    case space.vectorCount:
    case space.vectorState:
      return;
    case space.vectorBlock:
      checkVectorBlock(check, key, value);
      return;
    case space.size:
      if (known.tables.has(id) || known.indexes.has(id) || isOfVectors(check, id) || known.isGarbage(key))
        return;
      check.add('size', key, 'a count of nothing');
      return;
    default:
      check.add('item', key, 'a record of an unknown kind');
  }
}

function checkTable(check: Check, table: Table): void {
  check.report.tables++;
  const newestId = readMeta<number>(check.store, 'ids') ?? 0;
  const owners = [
    table,
    ...table.indexes,
    ...vectorsOf(table),
    ...table.streams,
    ...table.streams.flatMap(({ shards }) => shards),
  ];
  if (owners.some(({ id }) => id > newestId)) {
    check.add('table', tableKey(table.name), 'an id of the table was never given out', table.name);
  }
  checkCount(check, table, table.id, 'the table');
  for (const index of [...table.indexes, ...vectorsOf(table)]) {
    if (index.status !== 'DELETING') checkCount(check, table, index.id, `the index ${index.name}`);
  }
}

function checkCount({ store, tally, add, report }: Check, table: Table, id: number, what: string): void {
  const says = readSize(store, id);
  const has = tally.get(id) ?? { items: 0, bytes: 0 };
  if (says.items === has.items && says.bytes === has.bytes) return;
  const counts = `${says.items} items of ${says.bytes} bytes and has ${has.items} of ${has.bytes}`;
  // Only if all of them could be read.
  const fix = report.problems.every(({ kind }) => kind === 'size')
    ? (tx: Pick<Tx, 'put'>) => tx.put(sizeKey(id), encodeSizes(has))
    : undefined;
  add('size', sizeKey(id), `${what} says ${counts}`, table.name, fix);
}
