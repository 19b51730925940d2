import { type DynamoError, serializationError } from '../errors.ts';
import type { Shape } from './shape.ts';

const model = 'com.amazonaws.dynamodb.v20120810.';
const misplacedMap = 'Start of structure or map found where not expected';
const uncastable =
  'class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class ' +
  '(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base ' +
  "of loader 'bootstrap')";

// DynamoDB's parser has different messages for the same mistake in a member of a structure (a field) and in an element
// of a list or a map.
export type Site = 'field' | 'element';
export type Expected = Shape | { kind: 'binary' };

export function typeMismatch(shape: Expected, value: unknown, site: Site): DynamoError {
  return serializationError(Array.isArray(value) ? listFound(shape) : otherFound(shape, value, site));
}

function listFound(shape: Expected): string {
  if (shape.kind === 'attributes' || shape.kind === 'map') {
    return `Unrecognized collection type java.util.Map<java.lang.String, ${elementClass(shape)}>`;
  }
  return `Unrecognized collection type class ${javaClass(shape)}`;
}

function otherFound(shape: Expected, value: unknown, site: Site): string {
  const isMap = typeof value === 'object' && value !== null;
  switch (shape.kind) {
    case 'structure':
    case 'value':
      return site === 'field' ? 'Unexpected field type' : 'Unexpected value type in payload';
    case 'attributes':
    case 'map':
      return site === 'field' ? 'Unexpected field type' : uncastable;
    case 'list':
      if (isMap) return misplacedMap;
      return site === 'field' ? 'Unexpected field type' : uncastable;
    case 'binary':
      return isMap ? misplacedMap : 'only base-64-encoded strings are convertible to bytes';
    case 'boolean':
      if (isMap) return misplacedMap;
      if (typeof value === 'string') return 'Unexpected token received from parser';
      return `${tokenName(value)} cannot be converted to Boolean`;
    default:
      return isMap ? misplacedMap : `${tokenName(value)} cannot be converted to ${scalarNames[shape.kind]}`;
  }
}

// Whatever a refused member is, it is not looked at.
const scalarNames = {
  string: 'String',
  integer: 'Integer',
  long: 'Long',
  timestamp: 'Date',
  refused: 'String',
};

function tokenName(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'TRUE_VALUE' : 'FALSE_VALUE';
  if (typeof value === 'string') return 'STRING_VALUE';
  if (value == null) return 'NULL_VALUE';
  return Number.isInteger(value) || typeof value === 'bigint' ? 'NUMBER_VALUE' : 'DECIMAL_VALUE';
}

function javaClass(shape: Expected): string {
  switch (shape.kind) {
    case 'structure':
      return model + shape.name;
    case 'value':
      return `${model}AttributeValue`;
    case 'binary':
      return 'java.nio.ByteBuffer';
    case 'boolean':
      return 'java.lang.Boolean';
    case 'list':
      return 'java.util.List';
    case 'attributes':
    case 'map':
      return 'java.util.Map';
    default:
      return `java.lang.${scalarNames[shape.kind]}`;
  }
}

function elementClass(shape: Extract<Shape, { kind: 'attributes' | 'map' }>): string {
  if (shape.kind === 'attributes') return `${model}AttributeValue`;
  return shape.of.kind === 'list' ? `java.util.List<${javaClass(shape.of.of)}>` : javaClass(shape.of);
}
