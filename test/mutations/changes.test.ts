import { describe, expect, it } from 'vitest';
import { withChanges } from './changes.ts';
import { readScorePage, readScores, renderScores } from './score-page.ts';

const source = `function shorten(texts, most) {
  const short = texts.filter(text => text.length <= most && !text.startsWith('#'));
  if (short.length === 0) return ['none'];
  for (let i = 0; i < 2; i++) short.push(short[0]?.at(i + 1) ?? '-');
  return short;
}
`;
const { text, changes } = withChanges(source, 'shorten.js', 7);

// What the source with all its changes returns while one of them holds.
function shorten(holds: number, texts: string[], most: number): string[] {
  const evaluated = new Function('globalThis', `${text}; return shorten;`);
  return evaluated({ stakChange: (number: number) => number === holds })(texts, most);
}

describe('changes of a source', () => {
  it('are one for each operator, condition, number, and call that matters', () => {
    expect(changes.map(({ line, to }) => `${line}: ${to}`)).toEqual([
      '2: text.length < most',
      "2: text.endsWith('#')",
      "2: text.startsWith('#')",
      "2: text.length <= most || !text.startsWith('#')",
      '2: texts',
      '3: 1',
      '3: false',
      '3: true',
      '4: 1',
      '4: 3',
      '4: false',
      '4: i <= 2',
      '4: i--',
      "4: short[0]?.at(i + 1) && '-'",
      '4: nothing',
    ]);
  });

  it('hold one at a time, and none by themselves', () => {
    const results = (holds: number) => shorten(holds, ['abc', '#', 'ab', 'abcd'], 3).join(' ');
    expect(results(-1)).toBe('abc ab b c');
    expect(results(7)).toBe('ab b -');
    expect(results(9)).toBe('# - -');
    expect(results(11)).toBe('abc # ab abcd b c');
    expect(results(14)).toBe('none');
    expect(results(21)).toBe('abc ab');
  });
});

describe('the page of scores', () => {
  it('is as the command writes it', () => {
    expect(readScorePage()).toBe(renderScores(readScores()));
  });
});
