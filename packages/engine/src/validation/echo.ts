// The part of the request that a message repeats. DynamoDB prints all of it, as Java prints its objects; we stop after
// this many characters, since a request may be megabytes long.
export const maxEchoLength = 4096;
const maxEchoDepth = 40;

export function echo(value: unknown, element = ''): string {
  const writer = { text: '', left: maxEchoLength };
  write(writer, value, element, 0);
  return writer.text;
}

type Writer = { text: string; left: number };

function write(writer: Writer, value: unknown, element: string, depth: number): void {
  if (depth > maxEchoDepth) {
    put(writer, '...');
  } else if (Array.isArray(value)) {
    writeAll(writer, '[', ']', value.keys(), i => write(writer, value[i], element, depth + 1));
  } else if (value instanceof Uint8Array) {
    put(writer, Buffer.from(value.subarray(0, maxEchoLength)).toString('base64'));
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>;
    const open = element ? `${element}(` : '{';
    writeAll(writer, open, element ? ')' : '}', Object.keys(record), name => {
      put(writer, `${element ? name.charAt(0).toLowerCase() + name.slice(1) : name}=`);
      write(writer, record[name], '', depth + 1);
    });
  } else {
    put(writer, String(value));
  }
}

// Brackets are always closed, so that a shortened echo still reads as one value.
function writeAll<T>(
  writer: Writer,
  open: string,
  close: string,
  names: Iterable<T>,
  one: (name: T) => void,
): void {
  put(writer, open);
  let first = true;
  for (const name of names) {
    if (!first) put(writer, ', ');
    first = false;
    if (writer.left <= 0) {
      writer.text += '...';
      break;
    }
    one(name);
  }
  writer.text += close;
}

function put(writer: Writer, text: string): void {
  if (writer.left <= 0) return;
  writer.text += text.length > writer.left ? `${text.slice(0, writer.left)}...` : text;
  writer.left -= text.length;
}
