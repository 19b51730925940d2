import { linesOf } from '../../store/lines.ts';
import { authorize, type ConnectFlags } from '../connection.ts';

// Assistants on this machine start programs and talk to them line by line. Each line is a message of the protocol, and
// is sent to the server unchanged, with the credentials of the signed-in user.
export async function serveMcp(flags: ConnectFlags): Promise<void> {
  const { url, token } = await authorize(flags);
  const running = new Set<Promise<void>>();
  let version: string | undefined; // agreed on in the first response
  const forward = async (line: string): Promise<void> => {
    const answer = await post(`${url}/mcp`, line, await token(), version).catch((error: unknown) =>
      failure(line, error instanceof Error ? error.message : String(error)),
    );
    if (answer === undefined) return;
    version ??= (JSON.parse(answer) as { result?: { protocolVersion?: string } }).result?.protocolVersion;
    process.stdout.write(`${answer}\n`);
  };
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue;
    const work = forward(line).finally(() => running.delete(work));
    running.add(work);
    if (version === undefined) await work; // the first response decides the header of the others
  }
  await Promise.all(running);
}

async function post(
  url: string,
  body: string,
  token: string,
  version: string | undefined,
): Promise<string | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    },
    body,
  });
  const text = await response.text();
  if (response.ok) return text === '' ? undefined : JSON.stringify(JSON.parse(text));
  return failure(body, `The server answered ${response.status}`);
}

// As a response to the request, if it was one.
function failure(line: string, message: string): string | undefined {
  let id: unknown = null;
  try {
    id = (JSON.parse(line) as { id?: unknown }).id;
  } catch {}
  if (id === undefined) return undefined;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message } });
}
