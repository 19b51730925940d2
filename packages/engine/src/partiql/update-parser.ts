import { validationError } from '../errors.ts';
import type { ActionNode, CallNode, OperandNode, PathNode } from '../expressions/ast.ts';
import type { Update } from './ast.ts';
import { parseValue } from './condition-parser.ts';
import {
  type Cursor,
  current,
  expectSymbol,
  isCallAt,
  nested,
  parsePath,
  pathNode,
  take,
  takeSymbol,
  takeWord,
  unexpected,
} from './cursor.ts';
import { rangeOf } from './faults.ts';
import { parseReturning, parseSource, parseWhere, refuseAlias } from './source-parser.ts';

// Clauses may repeat and mix: SET a = 1 SET b = 2, c = 3 REMOVE d.
export function parseUpdate(cursor: Cursor): Update {
  const source = parseSource(cursor);
  refuseAlias(cursor);
  const actions: ActionNode[] = [];
  for (;;) {
    if (takeWord(cursor, 'SET')) parseEach(cursor, () => actions.push(parseAssignment(cursor)));
    else if (takeWord(cursor, 'REMOVE')) {
      parseEach(cursor, () => actions.push({ kind: 'remove', path: parsePathNode(cursor) }));
    } else break;
  }
  if (actions.length === 0) throw unexpected(cursor);
  const where = parseWhere(cursor);
  return { kind: 'update', source, actions, where, returning: parseReturning(cursor) };
}

function parseEach(cursor: Cursor, parseNext: () => void): void {
  do parseNext();
  while (takeSymbol(cursor, ','));
}

const parsePathNode = (cursor: Cursor): PathNode => pathNode(cursor, parsePath(cursor));

const setFunctions: Record<string, 'add' | 'delete'> = { SET_ADD: 'add', SET_DELETE: 'delete' };

function parseAssignment(cursor: Cursor): ActionNode {
  const path = parsePathNode(cursor);
  expectSymbol(cursor, '=');
  const name = current(cursor).text.toUpperCase();
  if (isCallAt(cursor) && Object.hasOwn(setFunctions, name)) return parseSetChange(cursor, path, name);
  const left = parseOperand(cursor);
  const operator = takeSymbol(cursor, '+') ? '+' : takeSymbol(cursor, '-') ? '-' : undefined;
  if (!operator) return { kind: 'set', path, value: left };
  return { kind: 'set', path, value: { kind: 'sum', operator, left, right: parseOperand(cursor) } };
}

// `SET a = SET_ADD(a, <<…>>)` is the ADD of an update expression; no other attribute may take the result.
function parseSetChange(cursor: Cursor, path: PathNode, name: string): ActionNode {
  const call = take(cursor);
  take(cursor);
  const first = current(cursor);
  const base = parsePathNode(cursor);
  expectSymbol(cursor, ',');
  const value = parseValue(cursor);
  const fault = `The second argument to ${name} must be a value with type SET ${rangeOf(cursor.source, first)}`;
  if (!value) throw validationError(fault);
  expectSymbol(cursor, ')');
  if (base.elements.join('.') !== path.elements.join('.')) {
    throw validationError(
      `The first argument to ${name} must equal the assignment value ${rangeOf(cursor.source, call)}`,
    );
  }
  cursor.sets.push({ value, fault });
  return { kind: setFunctions[name]!, path, value };
}

function parseOperand(cursor: Cursor): OperandNode {
  if (isCallAt(cursor)) return nested(cursor, parseListAppend);
  return parseValue(cursor) ?? parsePathNode(cursor);
}

function parseListAppend(cursor: Cursor): CallNode {
  const name = take(cursor).text.toLowerCase();
  if (name !== 'list_append') throw validationError(`Invalid function name; function: ${name}`);
  expectSymbol(cursor, '(');
  const args = [parseOperand(cursor)];
  while (takeSymbol(cursor, ',')) args.push(parseOperand(cursor));
  expectSymbol(cursor, ')');
  return { kind: 'call', name, args };
}
