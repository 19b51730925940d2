import { type FileHandle, open } from 'node:fs/promises';
import type { S3Client } from '@aws-sdk/client-s3';

type Sdk = typeof import('@aws-sdk/client-s3');
export type Destination = { client: S3Client; sdk: Sdk; object: { Bucket: string; Key: string } };
type Content = { bytes: number; partBytes: number; readPart(from: number): Promise<Uint8Array> };
type Upload = { Bucket: string; Key: string; UploadId: string | undefined };
type Part = { PartNumber: number; ETag: string | undefined };

// Each part is in memory, so the SDK can retry a single failed request. The object exists after the last request. Parts
// of a killed process are removed by the bucket's lifecycle rules.
export async function uploadParts(to: Destination, { bytes, partBytes, readPart }: Content): Promise<void> {
  const { client, sdk, object } = to;
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(object));
  const upload = { ...object, UploadId };
  try {
    const parts: Part[] = [];
    for (let from = 0; from < bytes; from += partBytes) {
      const part = { ...upload, PartNumber: parts.length + 1, Body: await readPart(from) };
      const { ETag } = await client.send(new sdk.UploadPartCommand(part));
      parts.push({ PartNumber: part.PartNumber, ETag });
    }
    await complete(to, upload, parts);
  } catch (error) {
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => {}); // the first error is more helpful
    throw error;
  }
}

// If the response to the first request was lost, S3 responds to the second one with NoSuchUpload.
async function complete({ client, sdk, object }: Destination, upload: Upload, parts: Part[]): Promise<void> {
  try {
    await client.send(
      new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
    );
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'NoSuchUpload') throw error;
    const { ETag = '' } = await client.send(new sdk.HeadObjectCommand(object));
    if (!ETag.includes(`-${parts.length}`)) throw error;
  }
}

export async function uploadFile(
  to: Destination,
  path: string,
  { bytes, partBytes }: Omit<Content, 'readPart'>,
): Promise<void> {
  const file = await open(path);
  try {
    const readPart = (from: number) => readExactly(file, path, from, Math.min(partBytes, bytes - from));
    await uploadParts(to, { bytes, partBytes, readPart });
  } finally {
    await file.close();
  }
}

async function readExactly(file: FileHandle, path: string, from: number, bytes: number): Promise<Buffer> {
  const part = Buffer.alloc(bytes);
  for (let read = 0; read < bytes; ) {
    const { bytesRead } = await file.read(part, read, bytes - read, from + read);
    if (bytesRead === 0) throw new Error(`${path} has become shorter`);
    read += bytesRead;
  }
  return part;
}
