import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Tx } from '../storage/committer.ts';
import { metaKey, prefixRange } from '../storage/keys.ts';
import { decodeJson, encodeJson } from '../storage/store.ts';
import { tableArn } from '../tables/arns.ts';

// Each export, import and bulk operation has a record in the store. The key is the last part of the ARN, and sorts by time.

export type TransferRecord = {
  key: string;
  tableName: string;
  by: string;
  startedAt: number;
  isDone: boolean;
};

export const newTransferKey = (now: number): string =>
  `${String(Math.floor(now)).padStart(14, '0')}-${randomBytes(4).toString('hex')}`;

/** How long a finished one is listed. */
const listedMs = 90 * 24 * 60 * 60_000;

export function transferRecords<R extends TransferRecord>(kind: 'export' | 'import' | 'bulk-operation') {
  const prefix = `${kind}/`;
  const arnShape = new RegExp(`:table/([^/]+)/${kind}/([0-9]{14}-[0-9a-f]{8})$`);
  const all = ({ store }: Context): R[] =>
    [...store.range(prefixRange(metaKey(prefix)), decodeJson)].map(({ value }) => value as R);

  // Finished ones are listed for a while.
  const listed = (context: Context): R[] => {
    const oldest = context.now() - listedMs;
    return all(context).filter(record => !record.isDone || record.startedAt >= oldest);
  };

  return {
    all,
    listed,
    arnOf: (context: Context, { key, tableName }: TransferRecord): string =>
      `${tableArn(context, tableName)}/${kind}/${key}`,
    find({ store }: Context, arn: string): R | undefined {
      const [, tableName, key] = arnShape.exec(arn) ?? [];
      if (key === undefined) return undefined;
      const record = store.get(metaKey(prefix + key), decodeJson) as R | undefined;
      return record?.tableName === tableName ? record : undefined;
    },
    get: ({ store }: Context, key: string): R | undefined =>
      store.get(metaKey(prefix + key), decodeJson) as R | undefined,
    save: (tx: Pick<Tx, 'put'>, record: R): void => tx.put(metaKey(prefix + record.key), encodeJson(record)),
    /** A page of those of a table, or of all, and where the next page begins. */
    page(
      context: Context,
      { tableName, limit, token }: { tableName?: string; limit: number; token?: string },
    ) {
      const start = token === undefined ? '' : Buffer.from(token, 'base64').toString('latin1').trimEnd();
      const records = listed(context).filter(
        record => record.key > start && (tableName === undefined || record.tableName === tableName),
      );
      const page = records.slice(0, limit);
      return { page, ...(page.length < records.length && { next: tokenOf(page.at(-1)!.key) }) };
    },
  };
}

// The SDK's model wants at least 112 characters.
const tokenOf = (key: string): string => Buffer.from(key.padEnd(90)).toString('base64');
