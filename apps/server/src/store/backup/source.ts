import {
  type Engine,
  type JournalChunk,
  type JournalCursor,
  type JournalPosition,
  noteShipped,
  readJournal,
  type Snapshot,
} from '@stak/engine';

// The store as a backup sees it.
export type BackupSource = {
  // The durable end of its journal; undefined if no history has begun.
  position(): Promise<JournalPosition | undefined>;
  begin(): Promise<JournalPosition>;
  read(from: JournalCursor, end: JournalPosition, mostBytes: number): Promise<JournalChunk | undefined>;
  noteShipped(cursor: JournalCursor): void;
  snapshot(): Snapshot;
  // When the first of its tables was created; a restored store has the tables of the original. Undefined if there is
  // none.
  madeAt(): Promise<number | undefined>;
};

type Opened = Pick<Engine, 'journal' | 'snapshot' | 'execute'>;

// `begin` is separate: a thread that only reads has to request it.
export function engineBackup(path: string, engine: Opened, begin: BackupSource['begin']): BackupSource {
  let noted: JournalCursor | undefined;
  return {
    position: engine.journal.position,
    begin,
    read: (from, end, mostBytes) => readJournal(path, from, end, mostBytes),
    noteShipped(cursor) {
      if (noted?.history === cursor.history && noted.file === cursor.file) return;
      noteShipped(path, cursor);
      noted = cursor;
    },
    snapshot: engine.snapshot,
    madeAt: () => findFirstTable(engine),
  };
}

async function findFirstTable({ execute }: Pick<Engine, 'execute'>): Promise<number | undefined> {
  let first: number | undefined;
  const { TableNames = [] } = (await execute('ListTables', {})) as { TableNames?: string[] };
  for (const TableName of TableNames) {
    const { Table } = (await execute('DescribeTable', { TableName })) as {
      Table: { CreationDateTime: number };
    };
    first = Math.min(first ?? Number.POSITIVE_INFINITY, Table.CreationDateTime * 1000);
  }
  return first;
}
