import { defineErrors } from '@stak/kit';

// Errors of the HTTP layer. Services have their own catalogues.
export const httpErrors = defineErrors({
  'http.json_invalid': 400,
  'http.request_invalid': 400,
  'http.body_refused': 400,
  'http.cursor_refused': 400,
  'http.unauthenticated': 401,
  'http.scope_missing': 403,
  'http.role_missing': 403,
  'http.principal_refused': 403,
  'http.not_found': 404,
  'http.method_not_allowed': 405,
  'http.body_too_slow': 408,
  'http.request_in_flight': 409,
  'http.answer_not_kept': 409,
  'http.version_mismatch': 412,
  'http.body_too_large': 413,
  'http.media_type_refused': 415,
  'http.idempotency_mismatch': 422,
  'http.version_required': 428,
  'http.rate_limited': 429,
  'http.headers_too_large': 431,
  'http.internal': 500,
  'http.unavailable': 503,
});

export type HttpErrorCode = keyof typeof httpErrors.statuses;

// One invalid field: its location, as a JSON Pointer in a URI fragment, and what is wrong with it.
export type FieldError = {
  in: 'body' | 'query' | 'path' | 'header';
  pointer: string;
  code: string;
  detail: string;
};

// Details of an error that become part of the response. Errors of services may use them too.
export type ProblemDetails = {
  errors?: readonly FieldError[];
  retryAfterS?: number;
  headers?: Readonly<Record<string, string>>;
};

export const refuse = (code: HttpErrorCode, message: string, details?: ProblemDetails, cause?: unknown) =>
  httpErrors.create(code, message, details, cause);
