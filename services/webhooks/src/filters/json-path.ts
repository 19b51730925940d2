import { JSONPathEnvironment, type JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import { type Budget, createBudget, spend } from './budget.ts';
import * as limits from './limits.ts';
import { compilePredicate } from './path-predicate.ts';
import {
  type Choose,
  chooseChildren,
  chooseIndex,
  chooseName,
  chooseSlice,
  listDescendants,
  PathError,
} from './path-step.ts';

const { FilterSelector, IndexSelector, NameSelector, SliceSelector, WildcardSelector } = jsonpath.selectors;

export type JsonPath = {
  text: string;
  // Whether it may select several values, and visit every value to do so.
  isWide: boolean;
  select(document: unknown, budget?: Budget): readonly unknown[];
};

const environment = new JSONPathEnvironment();

// RFC 9535 without the parts that can cost more than one pass over the document: unions (`[0,0][0,0]…` doubles with every
// pair), a second `..`, and queries or functions inside predicates. json-p3 parses the path. The evaluation is ours, because
// a generic one allocates a node with its whole location for every value it visits.
export function compilePath(text: string): JsonPath {
  const steps = readPlain(text)?.map(compilePlain) ?? parse(text).segments.map(readStep);
  if (steps.length > limits.pathSegments) throw new PathError(`has more than ${limits.pathSegments} steps`);
  if (steps.filter(step => step.descends).length > 1) throw new PathError('has more than one ".."');
  return {
    text,
    isWide: steps.some(step => step.descends || !step.isSingular),
    select(document, budget = createBudget()) {
      let values: unknown[] = [document];
      for (const { descends, choose } of steps) {
        const parents = descends ? listDescendants(values, budget) : values;
        values = [];
        spend(budget, parents.length);
        for (const parent of parents) choose(parent, values, budget);
        if (values.length === 0) break;
      }
      return values;
    },
  };
}

// Names and indexes of a path that can also be written to: `$.a.b[0]`.
export function readPlainPath(text: string): (string | number)[] {
  const plain = readPlain(text);
  if (plain) return plain;
  return parse(text).segments.map(segment => {
    const [selector, ...more] = segment.selectors;
    const isPlain = more.length === 0 && segment.token.kind !== TokenKind.DDOT;
    if (isPlain && selector instanceof NameSelector) return selector.name;
    if (isPlain && selector instanceof IndexSelector && selector.index >= 0) return selector.index;
    throw new PathError('may hold only names and indexes, like $.order.lines[0]');
  });
}

// Most paths are plain names and indexes, and json-p3 takes a tenth of a millisecond to parse them. Undefined for every other
// path, valid or not.
function readPlain(text: string): (string | number)[] | undefined {
  if (text.length > limits.pathChars || !text.startsWith('$')) return undefined;
  const step = /\.([A-Za-z_]\w*)|\[(0|[1-9]\d{0,9})\]|\['([ !#-&(-[\]-~]*)'\]|\["([ !#-&(-[\]-~]*)"\]/y;
  const steps: (string | number)[] = [];
  let end = 1;
  while (end < text.length) {
    step.lastIndex = end;
    const found = step.exec(text);
    if (!found) return undefined;
    const [, name, index, single, double] = found;
    steps.push(index === undefined ? (name ?? single ?? double ?? '') : Number(index));
    end = step.lastIndex;
  }
  return steps;
}

function compilePlain(step: string | number): Step {
  return {
    descends: false,
    isSingular: true,
    choose: typeof step === 'number' ? chooseIndex(step) : chooseName(step),
  };
}

function parse(text: string): JSONPathQuery {
  if (text.length > limits.pathChars) throw new PathError(`is longer than ${limits.pathChars} characters`);
  try {
    return environment.compile(text);
  } catch (error) {
    throw new PathError(`is not a JSONPath: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

type Step = { descends: boolean; isSingular: boolean; choose: Choose };

function readStep(segment: JSONPathQuery['segments'][number]): Step {
  const [selector, ...more] = segment.selectors;
  if (!selector || more.length > 0) throw new PathError('selects several things in one step');
  const isSingular = selector instanceof NameSelector || selector instanceof IndexSelector;
  return {
    descends: segment.token.kind === TokenKind.DDOT,
    isSingular,
    choose: compileSelector(selector),
  };
}

function compileSelector(selector: unknown): Choose {
  if (selector instanceof NameSelector) return chooseName(selector.name);
  if (selector instanceof IndexSelector) return chooseIndex(selector.index);
  if (selector instanceof WildcardSelector) return chooseChildren(() => true);
  if (selector instanceof SliceSelector) return chooseSlice(selector);
  if (selector instanceof FilterSelector)
    return chooseChildren(compilePredicate(selector.expression), limits.predicateTerms / 2);
  throw new PathError('holds a step that is not supported');
}
