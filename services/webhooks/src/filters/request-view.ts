export type HeaderPair = readonly [name: string, value: string];

// A request as received and stored: exact bytes, headers in order.
export type HookRequest = {
  method: string;
  headers: readonly HeaderPair[];
  query: string; // without the question mark
  body: Uint8Array;
};

// `text` is the value as JSON, exactly as received if the body is JSON.
type JsonBody = { ok: true; value: unknown; text: string } | { ok: false; reason: string };

// Filters and transforms of several connections read one request by this. The body is decoded and parsed at most once,
// and only on demand.
export type RequestView = {
  method: string;
  headers: readonly HeaderPair[];
  // All values of the header, in order. Names are case-insensitive.
  header(name: string): readonly string[];
  query: string;
  queryValues(name: string): readonly string[];
  body: Uint8Array;
  text(): string | undefined; // undefined if the bytes are not UTF-8
  // The body as data: JSON, or an object of the fields of a form.
  json(): JsonBody;
};

export function viewRequest(request: HookRequest): RequestView {
  let text: string | undefined | null = null;
  let json: JsonBody | undefined;
  let query: URLSearchParams | undefined;
  let names: string[] | undefined; // of the headers, in lower case

  const view: RequestView = {
    method: request.method,
    headers: request.headers,
    header: name => {
      names ??= request.headers.map(([one]) => one.toLowerCase());
      const wanted = name.toLowerCase();
      if (!names.includes(wanted)) return [];
      return request.headers.filter((_, i) => names![i] === wanted).map(([, value]) => value);
    },
    query: request.query,
    queryValues: name => {
      query ??= new URLSearchParams(request.query);
      return query.getAll(name);
    },
    body: request.body,
    text: () => {
      if (text === null) text = decodeUtf8(request.body);
      return text;
    },
    json: () => {
      json ??= readData(view.text(), isForm(view));
      return json;
    },
  };
  return view;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Whether the sender says that the body is a form. */
export const isForm = (view: Pick<RequestView, 'header'>): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(view.header('content-type')[0] ?? '');

function readData(text: string | undefined, isFormBody: boolean): JsonBody {
  if (text === undefined) return { ok: false, reason: 'The body is not UTF-8 text' };
  if (text.trim() === '') return { ok: false, reason: 'The body is empty' };
  if (isFormBody) {
    const value = readForm(text);
    return { ok: true, value, text: JSON.stringify(value) };
  }
  try {
    return { ok: true, value: JSON.parse(text), text };
  } catch {
    return { ok: false, reason: 'The body is not JSON' };
  }
}

// A repeated field becomes an array.
function readForm(text: string): Record<string, string | string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  // fromEntries defines each field, so `__proto__` is a name like any other.
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
