import { STATUS_CODES } from 'node:http';
import { z } from '@hono/zod-openapi';
import { AppError, type ErrorCatalogue } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import { type FieldError, httpErrors, type ProblemDetails } from './errors.ts';
import { unavailableRetryS } from './limits.ts';

const fieldErrorSchema = z
  .strictObject({
    in: z.enum(['body', 'query', 'path', 'header']),
    pointer: z.string().openapi({ example: '#/settings/name' }),
    code: z.string().openapi({ example: 'too_small' }),
    detail: z.string(),
  })
  .openapi('FieldError');

export const problemSchema = z
  .strictObject({
    type: z.string().openapi({ example: 'urn:stak:problem:http.request_invalid' }),
    title: z.string().openapi({ example: 'Bad Request' }),
    status: z.int(),
    code: z.string().openapi({ example: 'http.request_invalid' }),
    detail: z.string(),
    request_id: z.string(),
    errors: z.array(fieldErrorSchema).optional(),
    details: z.unknown().optional(),
  })
  .openapi('Problem', { description: 'What went wrong, as in RFC 9457. Programs should use `code`.' });

export type Problem = z.infer<typeof problemSchema>;
export type Answer = { problem: Problem; headers: Readonly<Record<string, string>>; isBug: boolean };

export type Statuses = ReadonlyMap<string, number>;
export const problemType = 'application/problem+json';

export function joinCatalogues(catalogues: readonly Pick<ErrorCatalogue, 'statuses'>[]): Statuses {
  const statuses = new Map<string, number>();
  for (const catalogue of catalogues)
    for (const [code, status] of Object.entries(catalogue.statuses)) {
      if (statuses.has(code) && statuses.get(code) !== status)
        throw new TypeError(`Two catalogues give "${code}" different statuses`);
      statuses.set(code, status);
    }
  return statuses;
}

const opaque = 'Something went wrong on our side. If it happens again, tell us the request id.';

// Converts any error to a response. Only errors of a catalogue are shown; for others, and for everything that a
// catalogue maps to 500, the caller gets only the request id.
export function describeError(error: unknown, requestId: string, statuses: Statuses): Answer {
  if (error instanceof AppError) {
    const status = statuses.get(error.code);
    if (status !== undefined && status !== 500) return describeAppError(error, status, requestId);
  }
  if (isUnavailable(error)) return describeAppError(unavailable(error), 503, requestId);
  return { problem: problemOf(500, 'http.internal', opaque, requestId), headers: {}, isBug: true };
}

const unavailable = (cause: unknown) =>
  httpErrors.create('http.unavailable', 'The store is not available at the moment.', undefined, cause);

function describeAppError(error: AppError, status: number, requestId: string): Answer {
  const problem = problemOf(status, error.code, error.message, requestId);
  // A temporary error can be retried, and callers should not have to guess when.
  const headers: Record<string, string> = status === 503 ? { 'Retry-After': String(unavailableRetryS) } : {};
  if (!isRecord(error.details)) return { problem, headers, isBug: false };
  const { errors, retryAfterS, ...details } = error.details as ProblemDetails;
  // Only errors of this layer set headers: the details of others may contain anything under that name.
  if (httpErrors.includes(error)) {
    Object.assign(headers, details.headers);
    delete details.headers;
  }
  if (Array.isArray(errors)) problem.errors = errors as FieldError[];
  // The details of a refused write in the table layer contain the whole stored item.
  const isForCallers = status < 500 && !error.code.startsWith('table.');
  if (isForCallers && Object.keys(details).length > 0) problem.details = details;
  if (retryAfterS !== undefined) headers['Retry-After'] = String(retryAfterS);
  return { problem, headers, isBug: false };
}

export function problemOf(status: number, code: string, detail: string, requestId: string): Problem {
  const title = STATUS_CODES[status] ?? 'Error';
  return { type: `urn:stak:problem:${code}`, title, status, code, detail, request_id: requestId };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
