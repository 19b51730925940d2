import { createHash } from 'node:crypto';
import { type DynamoError, validationError } from '../errors.ts';
import { makeImage } from '../item-writer.ts';
import { decodeItem } from '../storage/codec.ts';
import type { Table } from '../storage/table.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';

// A page ended in one of the statement's reads, after this item.
export type Position = { read: number; after?: Item };

type Request = { Statement: string; Parameters?: AttributeValue[] | undefined };

// A token is valid for one statement, its parameters and its table; the digest detects any other, and any change.
const digestBytes = 16;

export function encodeToken(table: Table, request: Request, { read, after }: Position): string {
  const number = Buffer.alloc(1, read);
  const offset = after ? Buffer.concat([number, makeImage(after).bytes]) : number;
  return Buffer.concat([digest(table, request, offset), offset]).toString('base64url');
}

export function decodeToken(table: Table, request: Request, token: string): Position {
  const bytes = Buffer.from(token, 'base64url');
  const offset = bytes.subarray(digestBytes);
  if (offset.length === 0 || !digest(table, request, offset).equals(bytes.subarray(0, digestBytes))) {
    throw foreignToken();
  }
  if (offset.length === 1) return { read: offset[0]! };
  try {
    return { read: offset[0]!, after: decodeItem(offset.subarray(1)) };
  } catch {
    throw foreignToken();
  }
}

export const foreignToken = (): DynamoError => validationError('NextToken does not match request');

function digest(table: Table, { Statement, Parameters }: Request, offset: Buffer): Buffer {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([table.uuid, Statement, Parameters ?? []]));
  hash.update(offset);
  return hash.digest().subarray(0, digestBytes);
}
