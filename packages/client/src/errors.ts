/** An invalid field of the request, with the reason. */
export type FieldError = {
  in: 'body' | 'query' | 'path' | 'header';
  pointer: string;
  code: string;
  detail: string;
};

type Problem = {
  code: string;
  status: number;
  detail: string;
  request_id?: string;
  errors?: readonly FieldError[];
  details?: unknown;
};

/**
 * Any failure of a call, except for an abort by the caller. `code` is the server's, or one of the client's:
 * `client.unreachable`, `client.timeout`, `client.answer_invalid`, `client.argument_refused`.
 */
export class StakError extends Error {
  override readonly name = 'StakError';
  readonly code: string;
  readonly status: number; // 0 if there was no response
  readonly detail: string;
  readonly request_id: string | undefined;
  readonly errors: readonly FieldError[]; // the invalid fields, if there are any
  readonly details: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, options: { cause?: unknown; retryAfterMs?: number } = {}) {
    super(`${problem.code}: ${problem.detail}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.request_id = problem.request_id;
    this.errors = problem.errors ?? [];
    this.details = problem.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export const clientError = (code: `client.${string}`, detail: string, cause?: unknown): StakError =>
  new StakError({ code, status: 0, detail }, { cause });

// A proxy may respond with something other than our problem format.
export async function errorOf(response: Response): Promise<StakError> {
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
  const request_id = response.headers.get('x-request-id') ?? undefined;
  const text = await response.text().catch(() => '');
  const problem = parseProblem(text);
  if (problem) return new StakError({ request_id, ...problem, status: response.status }, { retryAfterMs });
  const detail = `The server answered ${response.status} without saying why.`;
  const { status } = response;
  return new StakError({ code: 'client.answer_invalid', status, detail, request_id }, { retryAfterMs });
}

function parseProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    return typeof value?.code === 'string' && typeof value.detail === 'string'
      ? (value as Problem)
      : undefined;
  } catch {
    return undefined;
  }
}

// Seconds, as our server sends it. Proxies may send a date, which requires the same clock on both sides.
function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1000 : undefined;
}
