import { validationError } from '../errors.ts';
import type { Operation } from '../validation/operations.ts';
import { validators } from '../validation/operations.ts';
import { setOwn } from '../values/marshal.ts';

// `send(command)` for code written against AWS SDK v3. Commands of lib-dynamodb carry plain values, those of
// client-dynamodb tagged ones; the engine answers each in kind. Only the command's name and input are used, so
// the SDK itself is the caller's business.

type Command = { input: object; constructor: { name: string } };
// The SDK's other options (timeouts, retries of the transport) have no meaning in process.
type SendOptions = { abortSignal?: { aborted: boolean } };
type Execute = (operation: Operation, input: unknown) => Promise<object>;

/** Takes commands of `@aws-sdk/lib-dynamodb`, for libraries that want a document client. */
export type DocumentClient = {
  send(command: Command, options?: SendOptions): Promise<never>;
  config: { translateConfig: object };
  destroy(): void;
};

const documentOperations: Record<string, Operation> = {
  GetCommand: 'GetItem',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  QueryCommand: 'Query',
  ScanCommand: 'Scan',
  SearchVectorsCommand: 'SearchVectors',
  BatchGetCommand: 'BatchGetItem',
  BatchWriteCommand: 'BatchWriteItem',
  TransactGetCommand: 'TransactGetItems',
  TransactWriteCommand: 'TransactWriteItems',
  ExecuteStatementCommand: 'ExecuteStatement',
  BatchExecuteStatementCommand: 'BatchExecuteStatement',
  ExecuteTransactionCommand: 'ExecuteTransaction',
};

// A bundler may rename the class (`_PutCommand`, `PutCommand2`).
const commandName = (command: Command): string => command.constructor.name.replace(/^_+|\d+$/g, '');

// lib-dynamodb wraps the client's command; nothing else does.
const isDocumentCommand = (command: object): boolean => 'clientCommand' in command;

export function createDocumentClient(executeNative: Execute, executeWire: Execute): DocumentClient {
  async function send(command: Command, options?: SendOptions): Promise<never> {
    if (options?.abortSignal?.aborted) throw new DOMException('Request aborted', 'AbortError');
    const name = commandName(command);
    const answer = isDocumentCommand(command)
      ? await executeNative(operationOf(documentOperations[name], name), command.input)
      : withDates(await executeWire(operationOf(name.replace(/Command$/, ''), name), command.input));
    return { ...answer, $metadata: { httpStatusCode: 200, attempts: 1, totalRetryDelay: 0 } } as never;
  }

  return { send, config: { translateConfig: {} }, destroy() {} };
}

// On the wire times are seconds; the SDK's own client makes them dates. Only descriptions of tables and streams
// have such members: items hold tagged values, never bare numbers.
function withDates<T>(value: T): T {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(withDates) as T;
  const out: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const isTime = typeof member === 'number' && timeNames.test(name);
    setOwn(out, name, isTime ? new Date(member * 1000) : withDates(member));
  }
  return out as T;
}

const timeNames = /(DateTime|^(Start|End|Export)Time)$/;

function operationOf(operation: string | undefined, command: string): Operation {
  if (operation === undefined || !(operation in validators)) {
    throw validationError(`${command} is not supported by the embedded engine`);
  }
  return operation as Operation;
}
