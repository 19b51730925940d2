import { DynamoError, serializationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { nestingError } from '../validation/attribute-values.ts';
import { list, type Shape, type StructureShape, string } from '../validation/shape.ts';
import { type Site, typeMismatch } from '../validation/type-mismatch.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { inputShapes } from './shapes.ts';

type Json = { [name: string]: unknown };

// Converts parsed JSON to an operation's typed input: members have their declared types, binary is decoded, unknown
// members and nulls are removed. Nulls inside lists and maps stay, for the validators to report.
export function deserialize(operation: string, body: unknown): object {
  const shape = Object.hasOwn(inputShapes, operation)
    ? (inputShapes as { [name: string]: StructureShape })[operation]
    : undefined;
  if (!shape) throw new DynamoError('UnknownOperationException', '');
  if (!isRecord(body)) throw new DynamoError('SerializationException', '');
  return readStructure(shape, body);
}

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readStructure(shape: StructureShape, json: Json): object {
  const input: Json = {};
  for (const member of shape.entries) {
    const value = json[member.name];
    if (value != null) input[member.name] = read(member.shape, value, 'field');
  }
  return input;
}

function read(shape: Shape, json: unknown, site: Site): unknown {
  switch (shape.kind) {
    case 'string':
      if (typeof json !== 'string') throw typeMismatch(shape, json, site);
      return json;
    case 'integer':
    case 'long':
      if (typeof json !== 'number') throw typeMismatch(shape, json, site);
      return readInteger(json, shape.kind);
    case 'timestamp':
      if (typeof json !== 'number' || !Number.isFinite(json)) throw typeMismatch(shape, json, site);
      return json;
    case 'boolean':
      return readBoolean(shape, json, site);
    case 'refused':
      return json;
    case 'value':
      if (!isRecord(json)) throw typeMismatch(shape, json, site);
      return readValue(json, 1);
    case 'attributes':
      if (!isRecord(json)) throw typeMismatch(shape, json, site);
      return readAttributes(json, 1);
    case 'list':
      if (!Array.isArray(json)) throw typeMismatch(shape, json, site);
      return json.map(element => (element === null ? null : read(shape.of, element, 'element')));
    case 'map': {
      if (!isRecord(json)) throw typeMismatch(shape, json, site);
      const bag: Json = newItem();
      for (const name in json) bag[name] = json[name] === null ? null : read(shape.of, json[name], 'element');
      return bag;
    }
    case 'structure':
      if (!isRecord(json)) throw typeMismatch(shape, json, site);
      return readStructure(shape, json);
  }
}

const ranges = { integer: { bits: 31, name: 'int' }, long: { bits: 63, name: 'long' } };

function readInteger(json: number, kind: 'integer' | 'long'): number {
  const { bits, name } = ranges[kind];
  // JSON.parse reads 1e999 as Infinity.
  if (!(Math.abs(json) < 2 ** bits))
    throw serializationError(`Numeric value (${json}) out of range of ${name}`);
  return Math.trunc(json) + 0;
}

const truths = new Map([
  ['TRUE', true],
  ['1', true],
  ['YES', true],
  ['FALSE', false],
  ['0', false],
  ['NO', false],
]);

// DynamoDB's parser also takes these strings for booleans.
function readBoolean(shape: Shape, json: unknown, site: Site): boolean {
  if (typeof json === 'boolean') return json;
  const truth = typeof json === 'string' ? truths.get(json.toUpperCase()) : undefined;
  if (truth === undefined) throw typeMismatch(shape, json, site);
  return truth;
}

const valueShape: Shape = { kind: 'value' };
const attributesShape: Shape = { kind: 'attributes' };
const booleanShape: Shape = { kind: 'boolean' };
const textShape = string();
const listShape = list(textShape);

function readAttributes(json: Json, depth: number): Item {
  const item = newItem();
  for (const name in json) item[name] = readElement(json[name], depth);
  return item;
}

function readElement(json: unknown, depth: number): AttributeValue {
  if (json === null) return json as unknown as AttributeValue;
  if (!isRecord(json)) throw typeMismatch(valueShape, json, 'element');
  return readValue(json, depth);
}

// Recursion ends where DynamoDB's own limit does, far before the stack would.
function readValue(json: Json, depth: number): AttributeValue {
  if (depth > limits.jsonNestingDepth) throw nestingError();
  const value: Json = {};
  for (const type in json) {
    const content = json[type];
    if (content === null) continue;
    switch (type) {
      case 'S':
      case 'N':
        if (typeof content !== 'string') throw typeMismatch(textShape, content, 'field');
        value[type] = content;
        break;
      case 'B':
        value.B = readBinary(content);
        break;
      case 'BOOL':
      case 'NULL':
        value[type] = readBoolean(booleanShape, content, 'field');
        break;
      case 'M':
        if (!isRecord(content)) throw typeMismatch(attributesShape, content, 'field');
        value.M = readAttributes(content, depth + 1);
        break;
      case 'L':
        if (!Array.isArray(content)) throw typeMismatch(listShape, content, 'field');
        value.L = content.map(element => readElement(element, depth + 1));
        break;
      case 'SS':
      case 'NS':
        if (!Array.isArray(content)) throw typeMismatch(listShape, content, 'field');
        for (const member of content) {
          if (typeof member !== 'string') throw typeMismatch(textShape, member, 'element');
        }
        value[type] = content;
        break;
      case 'BS':
        if (!Array.isArray(content)) throw typeMismatch(listShape, content, 'field');
        value.BS = content.map(readBinary);
    }
  }
  return value as AttributeValue;
}

export function readBinary(json: unknown): Uint8Array {
  if (typeof json !== 'string') throw typeMismatch({ kind: 'binary' }, json, 'field');
  if (json.length % 4 !== 0) {
    throw serializationError(
      `Base64 encoded length is expected a multiple of 4 bytes but found: ${json.length}`,
    );
  }
  const bytes = Buffer.from(json, 'base64');
  // Node skips characters that are not base64, so the result is encoded again and compared.
  if (bytes.toString('base64') !== json) {
    throw serializationError('Invalid last non-pad Base64 character dectected');
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
