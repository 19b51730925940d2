import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

const invalid = (detail: string, cause?: unknown) => refuse('http.json_invalid', detail, undefined, cause);

// `size` is the number of values in the text.
export type Json = { value: unknown; size: number };

/** Parses JSON from a stranger. Throws an AppError if it is none, is nested too deep, or has too many fields. */
export function parseJson(bytes: Uint8Array, mostDepth: number = limits.jsonDepth): Json {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (error) {
    throw invalid('The body is not UTF-8.', error);
  }
  const size = measure(text, mostDepth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid('The body is not JSON.', error);
  }
  // Escapes can spell any name, so only a text without the name and without escapes can skip the check.
  if (text.includes('__proto__') || text.includes('\\u')) checkNames(value);
  return { value, size };
}

// Counts the values, and checks how deep they are nested and how many have names. On the text, before anything is built
// from it: an object of 400,000 names takes two seconds.
function measure(text: string, mostDepth: number): number {
  let depth = 0;
  let size = 1;
  let names = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isInString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) isInString = true;
    else if (code === 0x2c) size++;
    else if (code === 0x3a) names++;
    else if (code === 0x7b || code === 0x5b) {
      size++;
      if (++depth > mostDepth) throw invalid(`The body is nested deeper than ${mostDepth} levels.`);
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  if (names > limits.jsonNames) throw invalid(`The body has more than ${limits.jsonNames} fields.`);
  return size;
}

// JSON.parse makes `__proto__` an ordinary property, but copying it by assignment sets the prototype.
function checkNames(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw invalid('No field may be named "__proto__".');
  for (const inner of Object.values(value)) checkNames(inner);
}

// An escape can spell half a surrogate pair, which no store accepts. Returns the path of the first one, in a value or a
// name.
export function findHalfCharacter(bytes: Uint8Array, value: unknown): readonly string[] | undefined {
  const hasEscapes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('\\u');
  return hasEscapes ? pathToHalf(value) : undefined;
}

function pathToHalf(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const path = name.isWellFormed() ? pathToHalf(inner) : [];
    if (path) return [name, ...path];
  }
  return undefined;
}
