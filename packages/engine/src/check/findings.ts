import type { Context } from '../context.ts';
import { readSequence, type Size, type Tx } from '../storage/committer.ts';
import { readKnownIds } from './known-ids.ts';

export type ProblemKind = 'page' | 'table' | 'item' | 'index' | 'ttl' | 'log' | 'token' | 'size';
type Problem = { kind: ProblemKind; table?: string; key: string; message: string };

export type Report = {
  tables: number;
  items: number;
  indexEntries: number;
  ttlEntries: number;
  logRecords: number;
  tokens: number;
  problemCount: number;
  problems: Problem[];
};

// Every problem is counted, the first thousand are described: a badly damaged store can still be reported.
const describedProblems = 1000;

type Fix = (tx: Tx) => void;
// More are put right by another pass.
const mostFixes = 5000;

export type Check = ReturnType<typeof beginCheck>;

export function beginCheck(context: Context) {
  const report: Report = {
    tables: 0,
    items: 0,
    indexEntries: 0,
    ttlEntries: 0,
    logRecords: 0,
    tokens: 0,
    problemCount: 0,
    problems: [],
  };

  function note(problem: Problem): void {
    report.problemCount++;
    if (report.problems.length < describedProblems) report.problems.push(problem);
  }

  const fixes: Fix[] = [];
  return {
    context,
    store: context.store,
    known: readKnownIds(context),
    newestSequence: readSequence(context.store),
    // The values that the counters of tables and indexes should have.
    tally: new Map<number, Size>(),
    // The newest change record of each item: log key by item key.
    newest: new Map<string, Buffer>(),
    report,
    // The key of a page is its number in the file.
    addPage: (page: number, message: string): void => note({ kind: 'page', key: `${page}`, message }),
    // `fix` repairs what follows from items that can be read.
    add(kind: ProblemKind, key: Uint8Array, message: string, table?: string, fix?: Fix): void {
      note({ kind, key: Buffer.from(key).toString('hex'), message, ...(table && { table }) });
      if (fix && fixes.length < mostFixes) fixes.push(fix);
    },
    fixes,
  };
}

// Damaged bytes make decoders throw; here that is a finding like any other.
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
