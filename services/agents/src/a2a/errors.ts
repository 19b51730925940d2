import type { Problem } from '@stak/http';
import { AppError } from '@stak/kit';
import type { RpcAnswer, RpcId } from './schema.ts';
import { rpcAnswer } from './schema.ts';

// Errors as clients of A2A read them. What is wrong with a message, or with a task, answers the request as JSON-RPC does;
// other errors have the status and headers of the API, such as Retry-After, around the same body.

const codes = {
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  VERSION_NOT_SUPPORTED: -32009,
} as const;
type Reason = keyof typeof codes;

export class A2aError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message);
  }
}

function show(id: RpcId, reason: Reason, message: string, code?: string): RpcAnswer {
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code ?? reason,
    domain: code === undefined ? 'a2a-protocol.org' : 'stak',
  };
  return { jsonrpc: '2.0', id, error: { code: codes[reason], message, data: [info] } };
}

// Undefined for errors that have a status of their own.
export function answerError(id: RpcId, error: unknown): RpcAnswer | undefined {
  if (error instanceof A2aError) return show(id, error.reason, error.message);
  if (!(error instanceof AppError)) return undefined;
  const { code, message } = error;
  if (/^agents\.(?:conversation|message|approval)_not_found$/.test(code))
    return show(id, 'TASK_NOT_FOUND', message);
  if (isOfMessage.has(code)) return show(id, 'INVALID_PARAMS', message, code);
  return undefined;
}

const isOfMessage = new Set([
  'http.idempotency_mismatch',
  'agents.approval_decided',
  'agents.approval_not_yours',
  'agents.conversation_cleared',
]);

const showProblem = ({ status, code, detail, errors }: Problem): RpcAnswer => {
  const [field] = errors ?? [];
  const reason = status < 500 ? 'INVALID_REQUEST' : 'INTERNAL';
  return show(null, reason, field ? `${field.pointer}: ${field.detail}` : detail, code);
};

export const errorShape = { schema: rpcAnswer, show: showProblem };
