import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { checkConstraints, constraintError, violation } from './constraints.ts';
import { list, string, structure, type TypeOf } from './shape.ts';

// TagResource, UntagResource and ListTagsOfResource.
// Keys and values are checked below: their errors are not of the kind that is listed for a whole request.
export const tag = structure('Tag', { Key: string(), Value: string() });
export type Tag = { Key: string; Value: string };
const tagKeyLength = 128;
const tagValueLength = 256;
// Letters, digits and spaces of any script, and eight other characters.
const tagText = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

export const tagResourceShape = structure('TagResourceInput', { ResourceArn: string(), Tags: list(tag) });
export const untagResourceShape = structure('UntagResourceInput', {
  ResourceArn: string(),
  TagKeys: list(string()),
});
export const listTagsOfResourceShape = structure('ListTagsOfResourceInput', {
  ResourceArn: string(),
  NextToken: string(),
});

// The validators accept what the shapes allow; after them, ResourceArn and the list are set.
export type TagResourceInput = { ResourceArn: string; Tags: Tag[] };
export type UntagResourceInput = { ResourceArn: string; TagKeys: string[] };
export type ListTagsOfResourceInput = { ResourceArn: string; NextToken?: string };

export function validateTagResource(input: TagResourceInput): void {
  checkConstraints(tagResourceShape, input);
  checkArnPresence(input.ResourceArn);
  if (input.Tags == null) throw constraintError([violation(null, 'tags', 'Member must not be null')]);
  checkArn(input.ResourceArn);
  if (input.Tags.length === 0) throw validationError('Atleast one Tag needs to be provided as Input.');
  checkTags(input.Tags);
}

export function validateUntagResource(input: UntagResourceInput): void {
  checkConstraints(untagResourceShape, input);
  checkArnPresence(input.ResourceArn);
  if (input.TagKeys == null) throw constraintError([violation(null, 'tagKeys', 'Member must not be null')]);
  checkArn(input.ResourceArn);
  if (input.TagKeys.length === 0) throw validationError('Atleast one Tag Key needs to be provided as Input.');
  for (const key of input.TagKeys) checkTagKey(key);
}

export function validateListTagsOfResource(input: ListTagsOfResourceInput): void {
  checkConstraints(listTagsOfResourceShape, input);
  checkArnPresence(input.ResourceArn);
  checkArn(input.ResourceArn);
}

export function checkTags(tags: TypeOf<typeof tag>[]): asserts tags is Tag[] {
  for (const { Key, Value } of tags) {
    checkTagKey(Key);
    if (Value == null || Value.length > tagValueLength || !tagText.test(Value))
      throw validationError(`The Tag Value provided is invalid, Value: ${Value ?? null}`);
  }
  const keys = tags.map(({ Key }) => Key!);
  const repeated = keys.find((key, i) => keys.indexOf(key) < i);
  if (repeated !== undefined) {
    throw validationError(`Duplicate Tag Keys provided as input: Duplicate Tag Key found ${repeated}`);
  }
  for (const key of keys) {
    if (key.toLowerCase().startsWith('aws:'))
      throw validationError(`Tag Key cannot be prefixed with aws:, Key: ${key}`);
  }
  if (keys.length > limits.tagsPerTable) throw tooManyTags();
}

function checkTagKey(key: string | undefined): void {
  if (key && key.length <= tagKeyLength && tagText.test(key)) return;
  throw validationError(`The Tag Key provided is invalid, Key: ${key ?? null}`);
}

export const tooManyTags = () =>
  validationError('Number of Tags exceed the current limit for the provided ResourceArn');

function checkArnPresence(arn: string | undefined): void {
  if (arn == null) throw validationError('Invalid TableArn');
}

function checkArn(arn: string): void {
  if (!/^arn:[^:]+:dynamodb:[^:]*:\d*:table\/[^/]{3,255}$/.test(arn)) {
    throw validationError(`Invalid TableArn: Invalid ResourceArn provided as input ${arn.slice(0, 2048)}`);
  }
}
