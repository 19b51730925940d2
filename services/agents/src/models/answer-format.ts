import { findMismatch, findProblem } from '@stak/json-schema';
import * as limits from '../limits.ts';
import type { AnswerFormat } from '../state/answer-options.ts';
import { type Answer, ModelFault } from './model-call.ts';

// Answers that are JSON because the caller wants them so.

export class WrongFormat extends ModelFault {
  override readonly name = 'WrongFormat';
}

const bounds = { bytes: limits.formatBytes, parts: limits.schemaParts, depth: limits.schemaDepth };

// Of a schema with keywords that are not checked here, such as `$ref`, only that the answer is JSON. An answer that was
// cut off, or refused, says so itself.
export function checkFormat({ text, calls, finishReason }: Answer, format: AnswerFormat | undefined): void {
  if (!format || calls.length > 0 || finishReason !== undefined) return;
  const { schema } = format;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WrongFormat('the answer is not JSON');
  }
  const mismatch = schema && findProblem(schema, bounds) === undefined && findMismatch(schema, value);
  if (mismatch) throw new WrongFormat(`the answer does not fit its schema at "${mismatch.pointer}"`);
}
