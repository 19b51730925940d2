import { validationError } from '../errors.ts';
import { cacheParse } from '../expressions/parse-cache.ts';
import type { Path } from '../expressions/path.ts';
import type { Column, Delete, Exists, Insert, OrderTerm, ParsedStatement, Select, Statement } from './ast.ts';
import { parseValue } from './condition-parser.ts';
import {
  type Cursor,
  createCursor,
  current,
  expectSymbol,
  expectWord,
  isNameAt,
  leftover,
  parseName,
  parsePath,
  takeSymbol,
  takeWord,
  unexpected,
} from './cursor.ts';
import { malformed, rangeOf } from './faults.ts';
import { parseMember, parseSeries } from './literals.ts';
import { parseReturning, parseSource, parseWhere, refuseAlias } from './source-parser.ts';
import { parseUpdate } from './update-parser.ts';

export const parseStatement = cacheParse<ParsedStatement, void>(source => {
  const cursor = createCursor(source);
  const statement = parseAny(cursor);
  takeSymbol(cursor, ';');
  if (current(cursor).type !== 'end') throw leftover();
  const { names, literals, parameters, sets } = cursor;
  return { statement, names, literals, parameters, sets };
});

function parseAny(cursor: Cursor): Statement {
  if (takeWord(cursor, 'SELECT')) return parseSelect(cursor);
  if (takeWord(cursor, 'INSERT')) return parseInsert(cursor);
  if (takeWord(cursor, 'UPDATE')) return parseUpdate(cursor);
  if (takeWord(cursor, 'DELETE')) return parseDelete(cursor);
  if (takeWord(cursor, 'EXISTS')) return parseExists(cursor);
  throw malformed('Expected data manipulation');
}

function parseSelect(cursor: Cursor): Select {
  const columns = parseColumns(cursor);
  expectWord(cursor, 'FROM');
  const source = parseSource(cursor);
  refuseAlias(cursor);
  const where = parseWhere(cursor);
  return { kind: 'select', source, columns, where, order: parseOrder(cursor) };
}

function parseColumns(cursor: Cursor): Column[] | undefined {
  if (takeSymbol(cursor, '*')) {
    if (!takeSymbol(cursor, ',')) return undefined;
    throw validationError("Other attributes should not be present in the projection when '*' is used.");
  }
  const columns: Column[] = [];
  do {
    const path = parsePath(cursor);
    refuseAlias(cursor);
    columns.push({ name: columnName(path), path });
  } while (takeSymbol(cursor, ','));
  return columns;
}

// A path's column is named after its last element: `a.b` is b, `a.b[0]` is b[0].
function columnName(path: Path): string {
  let name = '';
  for (const step of path) name = typeof step === 'number' ? `${name}[${step}]` : step;
  return name;
}

function parseOrder(cursor: Cursor): OrderTerm[] {
  const terms: OrderTerm[] = [];
  if (!takeWord(cursor, 'ORDER')) return terms;
  expectWord(cursor, 'BY');
  do {
    const name = parseName(cursor);
    const descending = takeWord(cursor, 'DESC');
    if (!descending) takeWord(cursor, 'ASC');
    terms.push({ name, descending });
  } while (takeSymbol(cursor, ','));
  return terms;
}

function parseInsert(cursor: Cursor): Insert {
  expectWord(cursor, 'INTO');
  const token = current(cursor);
  const source = parseSource(cursor);
  if (source.index !== undefined) {
    throw validationError(
      'FROM clause may only contain a single table name in data manipulation statements ' +
        rangeOf(cursor.source, token),
    );
  }
  if (!takeWord(cursor, 'VALUE')) throw leftover();
  expectSymbol(cursor, '{');
  const attributes: Insert['attributes'] = [];
  parseSeries(cursor, '}', () => {
    const name = parseMember(cursor);
    const value = parseValue(cursor);
    if (!value) throw unexpected(cursor);
    attributes.push([name, value]);
  });
  return { kind: 'insert', source, attributes };
}

function parseDelete(cursor: Cursor): Delete {
  expectWord(cursor, 'FROM');
  if (!isNameAt(cursor)) throw malformed('Expected identifier for simple path');
  const source = parseSource(cursor);
  refuseAlias(cursor);
  const where = parseWhere(cursor);
  const returning = parseReturning(cursor);
  if (returning && (returning.scope !== 'ALL' || returning.image !== 'OLD')) {
    throw validationError(
      `Invalid returning clause: RETURNING ${returning.scope} ${returning.image} *. ` +
        'Only RETURNING ALL OLD * is allowed in DELETE statements.',
    );
  }
  return { kind: 'delete', source, where, returning };
}

function parseExists(cursor: Cursor): Exists {
  expectSymbol(cursor, '(');
  expectWord(cursor, 'SELECT');
  const select = parseSelect(cursor);
  expectSymbol(cursor, ')');
  return { kind: 'exists', source: select.source, select };
}
