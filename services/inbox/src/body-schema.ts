import { findMismatch, findProblem, type JsonObject } from '@stak/json-schema';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';

// Schemas that hosts write for the bodies of their messages.

export function checkSchema(schema: JsonObject): void {
  const problem = findProblem(schema, {
    bytes: limits.schemaBytes,
    parts: limits.schemaParts,
    depth: limits.schemaDepth,
  });
  if (problem !== undefined) throw inboxErrors.create('inbox.schema_refused', problem);
}

export function checkBody(schema: JsonObject, body: unknown): void {
  const mismatch = findMismatch(schema, body);
  if (!mismatch) return;
  const { pointer, keyword: code, detail } = mismatch;
  throw inboxErrors.create('inbox.body_invalid', "The body does not fit the inbox's schema.", {
    errors: [{ in: 'body', pointer: `#/message/body${encodeURI(pointer.toWellFormed())}`, code, detail }],
  });
}
