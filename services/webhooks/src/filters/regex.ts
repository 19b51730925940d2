import { RE2JS } from 're2js';
import * as limits from './limits.ts';
import { measurePattern } from './regex-size.ts';

export type Regex = {
  size: number; // instructions: the time of a match is proportional to them and to the text
  test(text: string): boolean;
};

// Why a pattern must not be saved, or undefined. Measured without compiling it: a pattern of twenty characters can take RE2
// a second to compile, and longer to refuse.
export function findCostlyPart(pattern: string): string | undefined {
  if (pattern.length > limits.regexChars) return `is longer than ${limits.regexChars} characters`;
  const { size, foldedChars, unicodeClasses } = measurePattern(pattern);
  if (size > limits.regexExpanded) return 'repeats too much';
  if (foldedChars > limits.regexFoldedChars) return 'has ranges that are too wide to ignore case in';
  if (unicodeClasses > limits.regexUnicodeClasses)
    return `has more than ${limits.regexUnicodeClasses} Unicode classes`;
  return undefined;
}

// RE2 matches in linear time, for any pattern. It has no back-references and no look-around.
export function compileRegex(pattern: string): Regex {
  const regex = readPattern(pattern);
  const size = regex.programSize();
  if (size > limits.regexProgram) throw new TypeError('repeats too much');
  return { size, test: text => regex.test(text) };
}

function readPattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new TypeError(`is not an RE2 pattern: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}
