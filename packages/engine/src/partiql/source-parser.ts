import { validationError } from '../errors.ts';
import type { Returning, TableSource } from './ast.ts';
import { parseCondition } from './condition-parser.ts';
import {
  type Cursor,
  expectSymbol,
  isNameAt,
  isWord,
  parseName,
  takeSymbol,
  takeWord,
  unexpected,
} from './cursor.ts';

// "table" or "table"."index". The statement decides whether an index is allowed.
export function parseSource(cursor: Cursor): TableSource {
  const names = [parseName(cursor)];
  while (takeSymbol(cursor, '.')) names.push(parseName(cursor));
  if (names.includes('')) throw validationError('Path component cannot be an empty string');
  if (names.length > 2) {
    throw validationError('A path may contain at most 2 components in the FROM clause');
  }
  const [table, index] = names as [string, string | undefined];
  return index === undefined ? { table } : { table, index };
}

export function refuseAlias(cursor: Cursor): void {
  if (isNameAt(cursor) || isWord(cursor, 'AS')) throw validationError('Aliasing is not supported');
}

export const parseWhere = (cursor: Cursor) =>
  takeWord(cursor, 'WHERE') ? parseCondition(cursor) : undefined;

export function parseReturning(cursor: Cursor): Returning | undefined {
  if (!takeWord(cursor, 'RETURNING')) return undefined;
  const scope = takeWord(cursor, 'ALL') ? 'ALL' : takeWord(cursor, 'MODIFIED') ? 'MODIFIED' : undefined;
  const image = takeWord(cursor, 'OLD') ? 'OLD' : takeWord(cursor, 'NEW') ? 'NEW' : undefined;
  if (!scope || !image) throw unexpected(cursor);
  expectSymbol(cursor, '*');
  return { scope, image };
}
