import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { checkConstraints, constraintError, violation } from './constraints.ts';
import { list, required, string, structure, type TypeOf } from './shape.ts';

// TagResource, UntagResource and ListTagsOfResource.
const tagKey = string({ min: 1, max: 128 });
export const tag = structure('Tag', { Key: required(tagKey), Value: required(string({ min: 0, max: 256 })) });
export type Tag = TypeOf<typeof tag>;

export const tagResourceShape = structure('TagResourceInput', { ResourceArn: string(), Tags: list(tag) });
export const untagResourceShape = structure('UntagResourceInput', {
  ResourceArn: string(),
  TagKeys: list(tagKey),
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
}

export function validateListTagsOfResource(input: ListTagsOfResourceInput): void {
  checkConstraints(listTagsOfResourceShape, input);
  checkArnPresence(input.ResourceArn);
  checkArn(input.ResourceArn);
}

export function checkTags(tags: Tag[]): void {
  const keys = tags.map(({ Key }) => Key);
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
