import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { awsClient } from '../src/aws-client.ts';
import { isUnanswered } from '../src/retry.ts';

const internal = '{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"x"}';

it.each([
  ['breaks', undefined, ''],
  ['fails', 500, internal],
  ['is behind something that fails', 503, 'no gateway'],
])('asks a server that %s once, and says that the answer is missing', async (_, status, body) => {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      if (status === undefined) request.socket.destroy();
      else response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint, credentials });
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  const adding = client.update({
    TableName: 'any',
    Key: { pk: 'a' },
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': 1 },
  });
  expect(isUnanswered(await adding.catch((error: unknown) => error))).toBe(true);
  expect(requests).toBe(1);
});
