import type { Context } from '../context.ts';
import { type PreparedPage, type PreparedQuery, queryPage } from './query.ts';
import { createPreparedReads, type PreparedGet, type PreparedItem, type PreparedItems } from './read.ts';
import { attempt, createPreparedWrites } from './write.ts';

// Operations for callers in this process that know what they ask for: plain values in and out, conditions and changes as
// data. There is no text to parse, no tagged value and no validation of a request. Whatever they do not support makes
// them return undefined before anything is written; the caller then sends the wire operation, which knows every type and
// every error.

/** Undefined if the operation is not supported: nothing was read or written. */
type Attempted<T> = T | undefined | Promise<T | undefined>;

/** The prepared form of the client's operations. Every function of the client has it as `prepared`. */
export type Prepared = ReturnType<typeof createPreparedWrites> & {
  get(get: PreparedGet, consistent: boolean): Attempted<PreparedItem>;
  getEach(gets: readonly PreparedGet[], consistent: boolean): Attempted<PreparedItems>;
  getTogether(gets: readonly PreparedGet[]): Attempted<PreparedItems>;
  query(query: PreparedQuery): Attempted<PreparedPage>;
};

/** `answer` decides when a caller gets what was read. */
export function createPrepared(context: Context, answer: <T>(read: () => T) => T | Promise<T>): Prepared {
  const reads = createPreparedReads(context);
  return {
    ...createPreparedWrites(context),
    get: (get, consistent) => answer(() => attempt(() => reads.get(get, consistent))),
    getEach: (gets, consistent) => answer(() => attempt(() => reads.getEach(gets, consistent))),
    getTogether: gets => answer(() => attempt(() => reads.getTogether(gets))),
    query: query => answer(() => attempt(() => queryPage(context, query))),
  };
}
