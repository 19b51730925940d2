export type CurlRequest = {
  method: string;
  url: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
};

// Headers that curl adds itself, or that a proxy added on the way.
const ownHeaders = new Set(['host', 'content-length', 'connection', 'accept-encoding', 'transfer-encoding']);

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const decoder = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined; // no shell can pass a NUL byte
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A request as a command for a POSIX shell that sends the same bytes. */
export function curlOf({ method, url, headers, body }: CurlRequest): string {
  const text = textOf(body);
  const options = [
    `curl -X ${method} ${quote(url)}`,
    ...headers
      .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
      .map(([name, value]) => `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`),
  ];
  if (body.length === 0) return options.join(' \\\n  ');
  if (text !== undefined) return [...options, `--data-raw ${quote(text)}`].join(' \\\n  ');
  const base64 = btoa(Array.from(body, byte => String.fromCharCode(byte)).join(''));
  return `echo ${base64} | base64 -d | ${[...options, '--data-binary @-'].join(' \\\n  ')}`;
}
