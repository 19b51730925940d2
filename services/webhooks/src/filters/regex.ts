import { RE2JS } from 're2js';
import * as limits from './limits.ts';

export type Regex = { test(text: string): boolean };

// RE2's automata take time linear in the text, whatever the pattern. No back-references and no look-around.
export function compileRegex(pattern: string): Regex {
  if (pattern.length > limits.regexChars)
    throw new TypeError(`is longer than ${limits.regexChars} characters`);
  const regex = readPattern(pattern);
  if (regex.programSize() > limits.regexProgram) throw new TypeError('repeats too much');
  return { test: text => regex.test(text) };
}

function readPattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new TypeError(`is not an RE2 pattern: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}
