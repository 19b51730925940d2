import { describe, expect, it } from 'vitest';
import { csvLine } from './csv.ts';

describe('a line of CSV', () => {
  it.each([
    [['a', 1, null, undefined, ''], 'a,1,,,'],
    [['a,b', 'say "hi"', 'two\nlines'], '"a,b","say ""hi""","two\nlines"'],
    [['=1+1', '+1', '-1', '@x', '|calc', '%0A'], "'=1+1,'+1,'-1,'@x,'|calc,'%0A"],
    [['＝1+1', '＋1', '－1', '＠x'], "'＝1+1,'＋1,'－1,'＠x"],
    [[' =1'], "' =1"],
    [['\r=1'], `"'\r=1"`],
    [[true, ['a', 'b'], { a: 1 }], 'true,"[""a"",""b""]","{""a"":1}"'],
    [[-5, 'a=1', 'tea - cake'], '-5,a=1,tea - cake'],
  ])('%j', (cells, line) => {
    expect(csvLine(cells)).toBe(`${line}\r\n`);
  });
});
