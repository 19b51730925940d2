/**
 * An error that a caller may see and act on. Any other error is a bug or an outage: it is logged, and the response is
 * an opaque 500.
 */
export class AppError<Code extends string = string, Details = unknown> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly details: Details | undefined;

  constructor(code: Code, message: string, details?: Details, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** The errors of a package by their codes. Created with `defineErrors`. */
export type ErrorCatalogue<Code extends string = string> = {
  readonly statuses: Readonly<Record<Code, number>>;
  create<Details>(code: Code, message: string, details?: Details, cause?: unknown): AppError<Code, Details>;
  includes(error: unknown): error is AppError<Code>;
};

const codeShape = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9_]*)+$/;

/**
 * Defines the errors of a package: each code with its HTTP status.
 *
 *     const errors = defineErrors({ 'webhooks.source_not_found': 404 });
 *     throw errors.create('webhooks.source_not_found', 'Source not found.');
 */
export function defineErrors<const Code extends string>(
  statuses: Readonly<Record<Code, number>>,
): ErrorCatalogue<Code> {
  for (const [code, status] of Object.entries<number>(statuses)) {
    if (!codeShape.test(code))
      throw new TypeError(`Error code "${code}" is not of the form room.what_happened`);
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new TypeError(`Error code "${code}" has status ${status}, which is not an error`);
  }
  return {
    statuses: Object.freeze({ ...statuses }),
    create: (code, message, details, cause) =>
      new AppError(code, message, details, cause === undefined ? undefined : { cause }),
    includes: (error): error is AppError<Code> =>
      error instanceof AppError && Object.hasOwn(statuses, error.code),
  };
}
