import { type FieldError, httpErrors, nameSchemas, type Problem } from '@stak/http';
import { z } from 'zod';

// Errors as OpenAI's clients read them: https://platform.openai.com/docs/guides/error-codes

const schema = z.strictObject({
  error: z.strictObject({
    message: z.string().describe('What went wrong'),
    type: z.string().describe('The kind of error'),
    param: z.string().nullable().describe('The field that is refused'),
    code: z.string().nullable().describe("OpenAI's code where there is one, ours otherwise"),
    request_id: z.string().optional(),
  }),
});
nameSchemas({ OpenAiError: schema });

export type OpenAiError = z.infer<typeof schema>;

const codes: Readonly<Record<string, string>> = {
  'http.unauthenticated': 'invalid_api_key',
  'http.rate_limited': 'rate_limit_exceeded',
  'agents.quota_exceeded': 'insufficient_quota',
  'agents.spend_exceeded': 'insufficient_quota',
  'agents.model_not_found': 'model_not_found',
  unknown_field: 'unknown_parameter',
  invalid_type: 'invalid_type',
};

function typeOf({ status, code }: Pick<Problem, 'status' | 'code'>): string {
  if (codes[code] === 'insufficient_quota') return 'insufficient_quota';
  if (status === 429) return 'rate_limit_error';
  if (status === 403) return 'permission_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

// `#/messages/0/content` is `messages[0].content` there.
const paramOf = ({ pointer }: FieldError): string | null =>
  pointer
    .split('/')
    .slice(1)
    .map(part => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('') || null;

function showError({ status, code, detail, errors, request_id }: Problem): OpenAiError {
  const [field] = errors ?? [];
  const param = field ? paramOf(field) : code === 'agents.model_not_found' ? 'model' : null;
  return {
    error: {
      message: field ? `${param ?? field.in}: ${field.detail}.`.replace(/\.\.$/, '.') : detail,
      type: typeOf({ status, code }),
      param,
      code: field ? (codes[field.code] ?? 'invalid_value') : (codes[code] ?? code),
      request_id,
    },
  };
}

// Of an answer that fails while it is streamed.
export const showFailure = (code: string, message: string): OpenAiError => {
  const type = codes[code] ?? 'server_error';
  return { error: { message, type, param: null, code: codes[code] ?? code } };
};

export const errorShape = { schema, show: showError };

// Refuses a field of the body.
export function refuseField(
  path: readonly (string | number)[],
  detail: string,
  code = 'invalid_value',
): never {
  const errors: FieldError[] = [{ in: 'body', pointer: `#/${path.join('/')}`, code, detail }];
  throw httpErrors.create('http.request_invalid', detail, { errors });
}
