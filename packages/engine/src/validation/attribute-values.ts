import { ValueError, validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { type AttributeValue, encoded, type Item } from '../values/attribute-value.ts';
import { compareBytes, compareStrings } from '../values/compare.ts';
import { compareNumbers, parseNumber } from '../values/number.ts';
import { byteLength, itemSize } from '../values/size.ts';
import { echo, maxEchoLength } from './echo.ts';
import { boolean, list, string } from './shape.ts';
import { typeMismatch } from './type-mismatch.ts';

const invalidValues = 'One or more parameter values were invalid: ';
export const invalid = (message: string) => validationError(invalidValues + message);
const invalidSet = (message: string) => new ValueError(invalidValues + message);

const emptyValue = 'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes';
const severalTypes =
  'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes';
export const falseNull = 'Null attribute value types must have the value of true';
export const tooDeep =
  'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit';

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html: names are at most 64 KB.
const attributeNameBytes = 65_535;
const shortName = attributeNameBytes / 4; // no character takes more than four bytes

const text = string();
const texts = list(text);

// A value from HTTP, or from a caller without types: it may contain anything.
type Untrusted = { [type: string]: unknown } | null | undefined;

export const nestingError = () => validationError(tooDeep);

// Checks a value, makes its numbers canonical and sorts its sets in place, in one pass. If a value has several types,
// DynamoDB reports an invalid one first.
export function validateValue(value: AttributeValue, depth = 1): void {
  if (depth > limits.nestingDepth) throw nestingError();
  const untrusted = value as Untrusted;
  if (typeof untrusted !== 'object' || untrusted === null) throw validationError(emptyValue);
  let types = 0;
  for (const type in untrusted) {
    const content = untrusted[type];
    if (content == null) continue;
    types++;
    switch (type) {
      case 'S':
        checkText(content);
        break;
      case 'N':
        if (typeof content !== 'string') throw typeMismatch(text, content, 'field');
        untrusted.N = parseNumber(content);
        break;
      case 'B':
        if (!(content instanceof Uint8Array)) throw typeMismatch({ kind: 'binary' }, content, 'field');
        break;
      case 'BOOL':
        if (typeof content !== 'boolean') throw typeMismatch(boolean, content, 'field');
        break;
      case 'NULL':
        if (typeof content !== 'boolean') throw typeMismatch(boolean, content, 'field');
        if (!content) throw invalid(falseNull);
        break;
      case 'M':
        if (typeof content !== 'object' || Array.isArray(content)) {
          throw typeMismatch({ kind: 'attributes' }, content, 'field');
        }
        validateAttributes(content as Item, depth + 1);
        break;
      case 'L':
        if (!Array.isArray(content)) throw typeMismatch(texts, content, 'field');
        for (let i = 0; i < content.length; i++) validateValue(content[i], depth + 1);
        break;
      case 'SS':
      case 'NS':
      case 'BS':
        if (!Array.isArray(content)) throw typeMismatch(texts, content, 'field');
        validateSet[type](content);
        break;
      default:
        types--;
    }
  }
  if (types === 0) throw validationError(emptyValue);
  if (types > 1) throw validationError(severalTypes);
}

export function validateAttributes(item: Item, depth = 1): void {
  if (item[encoded]) return; // only valid items are encoded
  for (const name in item) {
    checkAttributeName(name);
    validateValue(item[name] as AttributeValue, depth);
  }
}

export function validateItem(item: Item): void {
  validateAttributes(item);
  checkItemSize(item);
}

export function checkItemSize(item: Item): void {
  if (itemSize(item) > limits.itemBytes) {
    throw validationError('Item size has exceeded the maximum allowed size');
  }
}

export function checkAttributeName(name: string): void {
  if (name === '') throw invalid('Attribute name must not be empty');
  if (!name.isWellFormed()) throw malformed();
  if (name.length > shortName && byteLength(name) > attributeNameBytes) {
    throw invalid(`Attribute name is too large, must be less than ${attributeNameBytes + 1} bytes`);
  }
}

// Half of a surrogate pair has no UTF-8 form: stored, it would read back as another string, and two different
// keys could become one.
const malformed = () => invalid('String is not well-formed: it contains an unpaired surrogate');

function checkText(content: unknown): void {
  if (typeof content !== 'string') throw typeMismatch(text, content, 'field');
  if (!content.isWellFormed()) throw malformed();
}

const validateSet = {
  SS(members: unknown[]): void {
    if (members.length === 0) throw invalidSet('An string set  may not be empty');
    for (const member of members) checkText(member);
    if (hasDuplicates(members)) {
      const listed = upToRepeat(members as string[], members as string[], compareStrings).map(text =>
        JSON.stringify(text),
      );
      throw new ValueError(
        `${invalidValues}Input collection ${echo(members)} contains duplicates.`,
        `${invalidValues}Input collection ${shortened(`[${listed.join(', ')}]`)} contains duplicates.`,
      );
    }
    (members as string[]).sort(compareStrings);
  },
  NS(members: unknown[]): void {
    if (members.length === 0) throw invalidSet('An number set  may not be empty');
    for (let i = 0; i < members.length; i++) {
      const member = members[i];
      if (typeof member !== 'string') throw typeMismatch(text, member, 'element');
      members[i] = parseNumber(member);
    }
    if (hasDuplicates(members)) {
      const message = 'Input collection contains duplicates';
      throw new ValueError(message, `${invalidValues}${message}.`);
    }
    (members as string[]).sort(compareNumbers);
  },
  BS(members: unknown[]): void {
    if (members.length === 0) throw invalidSet('Binary sets should not be empty');
    const keys = members.map(member => {
      if (!(member instanceof Uint8Array)) throw typeMismatch({ kind: 'binary' }, member, 'element');
      return Buffer.from(member.buffer, member.byteOffset, member.byteLength).toString('latin1');
    });
    if (hasDuplicates(keys)) {
      const listed = upToRepeat(members as Uint8Array[], keys, compareBytes).map(
        member => `"${Buffer.from(member).toString('base64')}"`,
      );
      throw new ValueError(
        `${invalidValues}Input collection ${echo(members)}of type BS contains duplicates.`,
        `${invalidValues}Input collection ${shortened(`[${listed.join(',')}]`)}of type BS contains duplicates.`,
      );
    }
    (members as Uint8Array[]).sort(compareBytes);
  },
};

// As the current layer lists a set: in order up to the first member that is there already, and the rest as it came.
function upToRepeat<T>(members: readonly T[], keys: readonly string[], compare: (a: T, b: T) => number): T[] {
  const seen = new Set<string>();
  const first = keys.findIndex(key => seen.size === seen.add(key).size);
  return [...members.slice(0, first).sort(compare), ...members.slice(first)].slice(0, maxEchoLength);
}

const shortened = (text: string): string =>
  text.length > maxEchoLength ? `${text.slice(0, maxEchoLength)}...]` : text;

function hasDuplicates(members: unknown[]): boolean {
  if (members.length > 8) return new Set(members).size < members.length;
  for (let i = 1; i < members.length; i++) {
    for (let j = 0; j < i; j++) if (members[i] === members[j]) return true;
  }
  return false;
}
