import type { IncomingMessage } from 'node:http';
import { DynamoError } from '../errors.ts';
import { deserialize } from '../validation/deserialize.ts';
import { packBody, unpackBody } from './compression.ts';
import { type Origins, pageHeaders, preflightHeaders, refusePage } from './cors.ts';
import { type ErrorLog, toWireError } from './errors.ts';
import { json10, parseJson, readMediaType, readOperation, requireSignature } from './protocol.ts';
import { serialize } from './serialize.ts';
import { isTablesPage, tablesPage } from './tables-page.ts';

export type Executor = { execute(operation: string, input: unknown): Promise<object> };
export type Answer = { status: number; type: string; body: string | Buffer; headers?: string[] };

type AnswerOptions = {
  region: string;
  allowOrigins: Origins;
  maxBodyBytes: number;
  showsTables: boolean;
  log: ErrorLog | undefined;
};

const unknownProtocol: Answer = { status: 404, type: 'text/html', body: '<UnknownOperationException/>\n' };

// Turns a request and its body into the status, headers and body of the response.
export function createAnswers(executor: Executor, options: AnswerOptions) {
  const { region, allowOrigins, maxBodyBytes, showsTables, log } = options;
  // AWS answers with the trailing space.
  const healthy: Answer = {
    status: 200,
    type: 'text/plain',
    body: `healthy: dynamodb.${region}.amazonaws.com `,
  };

  const tooLarge = () =>
    new DynamoError('RequestEntityTooLargeException', `Request body exceeds ${maxBodyBytes} bytes`, {}, 413);

  function refusal(error: unknown, type: string): Answer {
    const { status, body } = toWireError(error, log);
    return { status, type, body: JSON.stringify(serialize(body)) };
  }

  function preflight({ headers }: IncomingMessage): Answer {
    try {
      const allowed = preflightHeaders(headers, allowOrigins);
      return allowed ? { status: 200, type: 'text/plain', body: '', headers: allowed } : unknownProtocol;
    } catch (error) {
      return refusal(error, json10);
    }
  }

  async function showTables({ url = '/', headers }: IncomingMessage): Promise<Answer> {
    try {
      return await tablesPage(executor, url, headers);
    } catch (error) {
      return refusal(error, json10);
    }
  }

  // The order of the checks is AWS's: protocol, JSON, target, signature, and only then the operation's input.
  async function plainAnswer(request: IncomingMessage, body: Buffer): Promise<Answer> {
    if (request.method === 'GET')
      return showsTables && isTablesPage(request.url) ? showTables(request) : healthy;
    if (request.method === 'OPTIONS') return preflight(request);
    const { headers } = request;
    const type = readMediaType(headers['content-type']);
    if (request.method !== 'POST' || type === undefined) return unknownProtocol;
    try {
      refusePage(headers, allowOrigins);
      const encoding = headers['content-encoding'];
      const plain = encoding === undefined ? body : await unpackBody(body, encoding, maxBodyBytes);
      if (plain === 'too-large') throw tooLarge();
      const json = plain.length === 0 ? undefined : parseJson(plain);
      const operation = readOperation(headers['x-amz-target']);
      requireSignature(headers, request.url ?? '/');
      if (plain.length === 0) throw new DynamoError('SerializationException', '');
      const output = await executor.execute(operation, deserialize(operation, json));
      return { status: 200, type, body: JSON.stringify(serialize(output)) };
    } catch (error) {
      return refusal(error, type);
    }
  }

  // For pages of other origins, and for clients that take compressed bodies.
  async function prepare({ headers }: IncomingMessage, plain: Answer): Promise<Answer> {
    const more = plain.headers ?? pageHeaders(headers, allowOrigins);
    const packed = await packBody(Buffer.from(plain.body as string), headers['accept-encoding']);
    if (packed) more.push('Content-Encoding', 'gzip');
    return { ...plain, body: packed ?? plain.body, headers: more };
  }

  return {
    refuseTooLarge: (): Answer => refusal(tooLarge(), json10),
    async answer(request: IncomingMessage, body: Buffer): Promise<Answer> {
      const plain = await plainAnswer(request, body);
      const { origin, 'accept-encoding': accepted } = request.headers;
      return origin === undefined && accepted === undefined ? plain : prepare(request, plain);
    },
  };
}
