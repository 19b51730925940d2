import type { ActionNode, ConditionNode, OperandNode, PathNode, SumNode } from '../src/expressions/ast.ts';
import type { AttributeValue, Item } from '../src/values/attribute-value.ts';

// DynamoDB's expressions in the fewest words: no binding, no sharing, no care for speed.
type Placeholders = { names: Record<string, string>; values: Record<string, AttributeValue> };
type Tagged = Record<string, unknown>;

const tag = (value: AttributeValue) => Object.keys(value)[0]!;
const content = (value: AttributeValue) => (value as Tagged)[tag(value)];

// Equal values have equal text.
function canonical(value: AttributeValue): string {
  const inner = content(value);
  switch (tag(value)) {
    case 'B':
      return `B${[...(inner as Uint8Array)]}`;
    case 'SS':
    case 'NS':
      return `${tag(value)}${JSON.stringify([...(inner as string[])].sort())}`;
    case 'BS':
      return `BS${JSON.stringify((inner as Uint8Array[]).map(bytes => `${[...bytes]}`).sort())}`;
    case 'L':
      return `L${JSON.stringify((inner as AttributeValue[]).map(canonical))}`;
    case 'M':
      return `M${JSON.stringify(
        Object.entries(inner as Item)
          .map(([name, member]) => [name, canonical(member)])
          .sort(),
      )}`;
    default:
      return tag(value) + String(inner);
  }
}

const equal = (a: AttributeValue, b: AttributeValue) => canonical(a) === canonical(b);

function order(a: AttributeValue, b: AttributeValue): number | undefined {
  if ('S' in a && 'S' in b) return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  if ('B' in a && 'B' in b) return Buffer.compare(a.B, b.B);
  return 'N' in a && 'N' in b ? Number(a.N) - Number(b.N) : undefined;
}

const resolvePath = ({ elements }: PathNode, { names }: Placeholders) =>
  elements.map(element => (typeof element === 'string' ? (names[element] ?? element) : element));

function lookUp(path: (string | number)[], item: Item): AttributeValue | undefined {
  let value: AttributeValue | undefined = { M: item };
  for (const element of path) {
    const inner: unknown = value && content(value);
    const fits: boolean = value !== undefined && tag(value) === (typeof element === 'number' ? 'L' : 'M');
    value = fits ? (inner as Record<string | number, AttributeValue>)[element] : undefined;
  }
  return value;
}

function read(node: OperandNode, placeholders: Placeholders, item: Item): AttributeValue | undefined {
  if (node.kind === 'path') return lookUp(resolvePath(node, placeholders), item);
  if (node.kind === 'value') return placeholders.values[node.name];
  const value = read(node.args[0]!, placeholders, item);
  if (!value || ['N', 'BOOL', 'NULL'].includes(tag(value))) return undefined;
  const inner = content(value);
  return { N: String('M' in value ? Object.keys(value.M).length : (inner as unknown[] | string).length) };
}

export function holdsNaively(node: ConditionNode, placeholders: Placeholders, item: Item): boolean {
  const holds = (part: ConditionNode) => holdsNaively(part, placeholders, item);
  const of = (operand: OperandNode) => read(operand, placeholders, item);
  const ordered = (a: OperandNode, b: OperandNode, test: (order: number) => boolean) => {
    const [x, y] = [of(a), of(b)];
    const found = x && y && order(x, y);
    return found !== undefined && test(found);
  };
  switch (node.kind) {
    case 'and':
      return node.tests.every(holds);
    case 'or':
      return node.tests.some(holds);
    case 'not':
      return !holds(node.test);
    case 'compare': {
      const [x, y] = [of(node.left), of(node.right)];
      const same = x !== undefined && y !== undefined && equal(x, y);
      if (node.operator === '=') return same;
      if (node.operator === '<>') return !same;
      return ordered(node.left, node.right, found =>
        found === 0 ? node.operator.endsWith('=') : found < 0 === node.operator.startsWith('<'),
      );
    }
    case 'between':
      return (
        ordered(node.operand, node.from, found => found >= 0) &&
        ordered(node.operand, node.to, found => found <= 0)
      );
    case 'in':
      return node.candidates.some(candidate => {
        const [x, y] = [of(node.operand), of(candidate)];
        return x !== undefined && y !== undefined && equal(x, y);
      });
    case 'call': {
      const [x, y] = node.args.map(of);
      if (node.name === 'attribute_exists') return x !== undefined;
      if (node.name === 'attribute_not_exists') return x === undefined;
      if (!x || !y) return false;
      if (tag(x) === tag(y) && (tag(x) === 'S' || tag(x) === 'B')) {
        const [whole, part] = [x, y].map(side => Buffer.from(content(side) as string)) as [Buffer, Buffer];
        return node.name === 'begins_with'
          ? Buffer.compare(whole.subarray(0, part.length), part) === 0
          : whole.includes(part);
      }
      return node.name === 'contains' && membersOf(x).some(member => equal(member, y));
    }
  }
}

function membersOf(value: AttributeValue): AttributeValue[] {
  if ('L' in value) return value.L;
  if ('SS' in value) return value.SS.map(S => ({ S }));
  if ('NS' in value) return value.NS.map(N => ({ N }));
  return 'BS' in value ? value.BS.map(B => ({ B })) : [];
}

// The item after the update, or undefined where DynamoDB would refuse it.
export function updateNaively(
  actions: ActionNode[],
  placeholders: Placeholders,
  item: Item,
): Item | undefined {
  const copy = structuredClone(item);
  const lists = new Set<(AttributeValue | undefined)[]>();
  try {
    const changes = actions.map(action => ({
      path: resolvePath(action.path, placeholders),
      value: changedValue(action, placeholders, item),
    }));
    // In the order of their indexes, new elements find their places by being pushed.
    changes.sort((a, b) => indexOf(a.path) - indexOf(b.path) || 0);
    for (const { path, value } of changes) change(copy, path, value, lists);
  } catch (refusal) {
    if (refusal !== refused) throw refusal;
    return undefined;
  }
  for (const list of lists) list.splice(0, list.length, ...list.filter(element => element !== undefined));
  return copy;
}

const indexOf = (path: (string | number)[]) =>
  typeof path.at(-1) === 'number' ? Number(path.at(-1)) : Infinity;

const refused = Symbol('refused');
const refuse = (): never => {
  throw refused;
};

function change(
  item: Item,
  path: (string | number)[],
  value: AttributeValue | undefined,
  lists: Set<(AttributeValue | undefined)[]>,
): void {
  const holder = lookUp(path.slice(0, -1), item) ?? refuse();
  const last = path.at(-1)!;
  if (typeof last === 'string' && 'M' in holder) {
    if (value) holder.M[last] = value;
    else delete holder.M[last];
  } else if (typeof last === 'number' && 'L' in holder) {
    const list: (AttributeValue | undefined)[] = holder.L;
    lists.add(list);
    if (last < list.length) list[last] = value;
    else if (value) list.push(value);
  } else refuse();
}

function changedValue(
  action: ActionNode,
  placeholders: Placeholders,
  item: Item,
): AttributeValue | undefined {
  if (action.kind === 'remove') return undefined;
  if (action.kind === 'set') return evaluate(action.value, placeholders, item);
  const old = lookUp(resolvePath(action.path, placeholders), item);
  const operand = placeholders.values[action.value.name]!;
  if (old && tag(old) !== tag(operand)) return refuse();
  if ('N' in operand) return { N: String(Number(operand.N) + (old ? Number(content(old)) : 0)) };
  const members = old ? membersOf(old) : [];
  const others = membersOf(operand);
  const missingFrom = (from: AttributeValue[]) => (member: AttributeValue) =>
    !from.some(other => equal(member, other));
  const result =
    action.kind === 'add'
      ? old
        ? [...members, ...others.filter(missingFrom(members))].sort(inOrder)
        : others
      : members.filter(missingFrom(others));
  return result.length > 0 ? ({ [tag(operand)]: result.map(content) } as AttributeValue) : undefined;
}

const inOrder = (a: AttributeValue, b: AttributeValue): number =>
  'N' in a
    ? Number(a.N) - Number(content(b))
    : Buffer.compare(Buffer.from(content(a) as string), Buffer.from(content(b) as string));

function evaluate(node: OperandNode | SumNode, placeholders: Placeholders, item: Item): AttributeValue {
  const of = (operand: OperandNode) => evaluate(operand, placeholders, item);
  if (node.kind === 'sum') {
    const [a, b] = [of(node.left), of(node.right)];
    if (!('N' in a && 'N' in b)) return refuse();
    return { N: String(node.operator === '+' ? Number(a.N) + Number(b.N) : Number(a.N) - Number(b.N)) };
  }
  if (node.kind !== 'call') return read(node, placeholders, item) ?? refuse();
  if (node.name === 'if_not_exists') return read(node.args[0]!, placeholders, item) ?? of(node.args[1]!);
  const [a, b] = node.args.map(of) as [AttributeValue, AttributeValue];
  return 'L' in a && 'L' in b ? { L: [...a.L, ...b.L] } : refuse();
}
