import { fastFormats } from 'ajv-formats/dist/formats.js';
import * as limits from './limits.ts';

export const formatNames = [
  'date',
  'date-time',
  'time',
  'email',
  'uri',
  'uuid',
  'ipv4',
  'ipv6',
  'hostname',
] as const;

// Only the formats above: their expressions do not backtrack over more than a few characters.
export function isFormat(name: string, text: string): boolean {
  if (text.length > limits.formatChars) return false;
  const format = fastFormats[name as (typeof formatNames)[number]];
  const validate = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (validate instanceof RegExp) return validate.test(text);
  return typeof validate !== 'function' || validate(text as never) === true;
}
