import type { Reply, Sandbox } from '@stak/sandbox';
import { z } from 'zod';
import { type HeaderPair, isForm, type RequestView } from '../filters/request-view.ts';
import * as limits from './limits.ts';
import {
  type TransformFailure,
  type TransformFailureReason,
  type TransformOutcome,
  toFailure,
} from './transform.ts';

const program = new URL('./script-program.mjs', import.meta.url);

// Runs in the sandbox, which is shared fairly by accounts. Never rejects.
export async function runScript(
  sandbox: Pick<Sandbox, 'run'>,
  { code, view, account }: { code: string; view: RequestView; account: string },
  timeoutMs: number = limits.scriptMs,
): Promise<TransformOutcome> {
  const input = { code, ...describeEvent(view), outputChars: limits.outputBytes };
  return readReply(await sandbox.run({ program, input, timeoutMs }, account));
}

// The argument of the script: `{ method, headers, query, body }`. The body is data if it is JSON or a form, otherwise text,
// otherwise null with its bytes in `bodyBase64`. Whether a text is JSON is found out in the sandbox: parsing it takes
// milliseconds, for each connection with a script.
function describeEvent(view: RequestView): { head: string; body?: string; text?: string } {
  const head = JSON.stringify({
    method: view.method,
    headers: joinPairs(view.headers.map(([name, value]) => [name.toLowerCase(), value])),
    query: joinPairs([...new URLSearchParams(view.query)]),
  });
  const form = isForm(view) ? view.json() : undefined;
  if (form?.ok) return { head, body: `"body":${form.text}` };
  const text = view.text();
  if (text !== undefined) return { head, text };
  return { head, body: `"body":null,"bodyBase64":"${Buffer.from(view.body).toString('base64')}"` };
}

// Repeated names are joined as HTTP joins them.
function joinPairs(pairs: readonly HeaderPair[]): Record<string, string> {
  const joined = new Map<string, string>();
  for (const [name, value] of pairs) {
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(joined);
}

// The output of script-program.mjs.
type ScriptReply =
  | { dropped: true }
  | { kind: 'json' | 'text' | 'base64'; body: string; headers: string }
  | { reason: TransformFailureReason; message: string };

function readReply(reply: Reply): TransformOutcome {
  if (!reply.ok) return toFailure(reply);
  const answer = reply.output as ScriptReply;
  if ('reason' in answer) return { ok: false, ...answer };
  if ('dropped' in answer) return { ok: true, dropped: true };
  const body = Buffer.from(answer.body, answer.kind === 'base64' ? 'base64' : 'utf8');
  if (body.length > limits.outputBytes)
    return { ok: false, reason: 'output_too_large', message: `The body has ${body.length} bytes` };
  const headers = answer.headers === '' ? undefined : readHeaders(answer.headers);
  if (headers && 'reason' in headers) return headers;
  const contentType = chooseType(answer.kind, headers);
  return {
    ok: true,
    dropped: false,
    body,
    ...(contentType === undefined ? {} : { contentType }),
    ...(headers ? { headers } : {}),
  };
}

// The script's own content type, unless it passed on that of the received body and returns JSON.
function chooseType(
  kind: 'json' | 'text' | 'base64',
  headers: readonly HeaderPair[] = [],
): string | undefined {
  const said = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  if (kind !== 'json') return said;
  return said !== undefined && /\bjson\b/i.test(said) ? said : 'application/json';
}

const headersSchema = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/),
);

function readHeaders(text: string): readonly HeaderPair[] | TransformFailure {
  const tooLarge: TransformFailure = {
    ok: false,
    reason: 'output_too_large',
    message: 'The headers are too many or too large',
  };
  if (text.length > limits.outputHeaderChars) return tooLarge;
  const parsed = headersSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    return { ok: false, reason: 'output_invalid', message: 'headers must be an object of strings' };
  const headers = Object.entries(parsed.data);
  return headers.length > limits.outputHeaders ? tooLarge : headers;
}
