import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// Takes a request away from the bucket if it returns true, to answer it otherwise, or never.
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

// As much of S3 as the lake uses, in memory.
export async function startBucket(intercept: Intercept = () => false): Promise<{
  endpoint: string;
  keys(): string[];
  uploads(): number; // that were neither completed nor aborted
  close(): void;
}> {
  const objects = new Map<string, { body: Buffer; at: Date; parts?: number }>();
  const uploads = new Map<string, Buffer[]>();
  let lastUpload = 0;
  const server = createServer(async (request, response) => {
    if (intercept(request, response)) return;
    const url = new URL(request.url ?? '/', 'http://stub');
    const key = decodeURIComponent(url.pathname.split('/').slice(2).join('/'));
    const answer = (status: number, body: Buffer | string = '') => {
      response.writeHead(status, {
        'Content-Length': Buffer.byteLength(body),
        'Content-Type': 'application/xml',
      });
      response.end(body);
    };
    const problem = (status: number, code: string) => answer(status, `<Error><Code>${code}</Code></Error>`);
    const uploadId = url.searchParams.get('uploadId');
    const parts = uploadId === null ? undefined : uploads.get(uploadId);
    if (uploadId !== null && !parts) return problem(404, 'NoSuchUpload');
    if (request.method === 'POST') {
      await readBody(request);
      if (!parts) {
        uploads.set(String(++lastUpload), []);
        return answer(
          200,
          `<InitiateMultipartUploadResult><UploadId>${lastUpload}</UploadId></InitiateMultipartUploadResult>`,
        );
      }
      uploads.delete(uploadId!);
      objects.set(key, { body: Buffer.concat(parts), at: new Date(), parts: parts.length });
      return answer(200, '<CompleteMultipartUploadResult/>');
    }
    if (request.method === 'HEAD') {
      response.writeHead(200, { ETag: `"0-${objects.get(key)?.parts ?? 1}"` });
      return response.end();
    }
    if (request.method === 'PUT') {
      const body = await readBody(request);
      if (parts) {
        parts[Number(url.searchParams.get('partNumber')) - 1] = body;
        response.setHeader('ETag', '"0"');
        return answer(200);
      }
      if (request.headers['if-none-match'] === '*' && objects.has(key))
        return problem(412, 'PreconditionFailed');
      objects.set(key, { body, at: new Date() });
      return answer(200);
    }
    if (request.method === 'DELETE') {
      if (uploadId === null) objects.delete(key);
      else uploads.delete(uploadId);
      return answer(204);
    }
    if (key === '') return answer(200, list(objects, url));
    const found = objects.get(key);
    if (!found) return problem(404, 'NoSuchKey');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (first === undefined) return answer(200, found.body);
    return answer(206, found.body.subarray(Number(first), Number(last) + 1));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    keys: () => [...objects.keys()].sort(),
    uploads: () => uploads.size,
    close: () => void server.close(),
  };
}

const pageKeys = 2; // so small that every listing has several pages

function list(objects: Map<string, { body: Buffer; at: Date }>, { searchParams }: URL): string {
  const prefix = searchParams.get('prefix') ?? '';
  const after = searchParams.get('continuation-token') ?? '';
  const keys = [...objects.keys()].filter(key => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, pageKeys);
  const contents = page.map(key => {
    const { body, at } = objects.get(key)!;
    return `<Contents><Key>${key}</Key><Size>${body.length}</Size><LastModified>${at.toISOString()}</LastModified></Contents>`;
  });
  const more = keys.length > pageKeys;
  const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  return `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
}

// The SDK sends streams in chunks of its own, each with its length before it and a checksum after the last.
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  if (!String(request.headers['content-encoding'] ?? '').includes('aws-chunked')) return body;
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const bytes = Number.parseInt(body.toString('latin1', at, end).split(';')[0]!, 16);
    if (!bytes) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + bytes));
    at = end + 2 + bytes + 2;
  }
}
