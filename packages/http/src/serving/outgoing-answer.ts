import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Given = OutgoingHttpHeaders | OutgoingHttpHeader[];

// Takes the headers that every response has as one list, and writes them together with the response's own, which win.
// Setting them one by one would cost twice as much, and they are the larger part of this layer's work.
export class OutgoingAnswer extends ServerResponse {
  #common: readonly string[] = [];

  // Name, value, name, value.
  setCommonHeaders(headers: readonly string[]): void {
    this.#common = headers;
  }

  override writeHead(status: number, reason?: string | Given, headers?: Given): this {
    if (typeof reason === 'string') this.statusMessage = reason;
    const own = headers ?? (typeof reason === 'string' ? undefined : reason);
    return super.writeHead(status, mergeHeaders(this.#common, own));
  }
}

function mergeHeaders(common: readonly string[], own: Given = []): OutgoingHttpHeader[] {
  const merged: OutgoingHttpHeader[] = [...common];
  if (Array.isArray(own))
    for (let i = 0; i < own.length; i += 2) put(merged, common.length, String(own[i]), own[i + 1]);
  else for (const name in own) put(merged, common.length, name, own[name]);
  return merged;
}

function put(
  merged: OutgoingHttpHeader[],
  commonLength: number,
  name: string,
  value: OutgoingHttpHeader | undefined,
): void {
  if (value === undefined) return;
  for (let i = 0; i < commonLength; i += 2)
    if (isSameName(merged[i] as string, name)) {
      merged[i + 1] = value;
      return;
    }
  merged.push(name, value);
}

const isSameName = (name: string, other: string): boolean =>
  name.length === other.length && name.toLowerCase() === other.toLowerCase();
