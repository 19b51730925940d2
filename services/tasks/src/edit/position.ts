// The position of a task in the user's own order: text that sorts. A new task has the position of its id, so tasks are
// in the order they were created. A moved one gets a text between its neighbours, and no other task changes.

const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
const base = digits.length;
const headDigits = 9; // an id starts with its millisecond
const endStep = 1000; // a move to the top or bottom goes a second further, so that positions there stay short

const ownId = /^tsk_([0-9a-z]{24})$/;

// Another program's ids say nothing about when a task was created.
export const firstPosition = (taskId: string, created_at: number): string =>
  ownId.exec(taskId)?.[1] ?? headText(Math.max(1, created_at * 1000));

// The position of a new task: its own, unless tasks were moved to the bottom, which may be ahead of the clock.
export function newPosition(taskId: string, created_at: number, last: string | undefined): string {
  const own = firstPosition(taskId, created_at);
  return last === undefined || last < own ? own : afterAll(last);
}

// A short text between the two. Undefined stands for the end of the list, and is returned if there is no room.
export function positionBetween(low: string | undefined, high: string | undefined): string | undefined {
  if (low === undefined) return high === undefined ? 'i' : beforeAll(high);
  if (high === undefined) return afterAll(low);
  return low < high ? fraction(low, high) : undefined;
}

const headOf = (position: string): number =>
  Number.parseInt(position.slice(0, headDigits).padEnd(headDigits, '0'), base);

const headText = (head: number): string => head.toString(base).padStart(headDigits, '0');

function beforeAll(high: string): string | undefined {
  const head = headOf(high) - endStep;
  return head > 0 ? headText(head) : fraction('', high);
}

function afterAll(low: string): string {
  const head = headText(headOf(low) + endStep);
  return head.length === headDigits ? head : `${low}i`;
}

// Both texts are read as digits after a point. The result never ends in zero, because nothing would fit below it.
function fraction(low: string, high: string): string | undefined {
  let between = '';
  for (let i = 0; i < high.length; i++) {
    const floor = i < low.length ? digits.indexOf(low[i]!) : 0;
    const ceiling = digits.indexOf(high[i]!);
    if (ceiling - floor > 1) return between + digits[floor + Math.floor((ceiling - floor) / 2)];
    between += digits[floor];
    // Adjacent digits: keep the lower one, and go above what follows it.
    if (floor < ceiling) return between + aboveRest(low.slice(i + 1));
  }
  return undefined;
}

function aboveRest(rest: string): string {
  let above = '';
  for (const character of rest) {
    const digit = digits.indexOf(character);
    if (digit < base - 1) return above + digits[digit + Math.ceil((base - digit) / 2)];
    above += character;
  }
  return `${above}i`;
}
