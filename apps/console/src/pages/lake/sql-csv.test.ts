import { expect, test } from 'vitest';
import { toCsv } from './sql-csv.ts';

test('a result as a file for spreadsheets', () => {
  const rows = [
    ['plain', 1.5, null],
    ['with, "quotes"\nand lines', true, ['a', 'b']],
    ['=cmd()', -3, '-3'],
  ];
  expect(toCsv(['text', 'number, of', 'other'], rows)).toBe(
    'text,"number, of",other\r\n' +
      'plain,1.5,\r\n' +
      '"with, ""quotes""\nand lines",true,"[""a"",""b""]"\r\n' +
      "'=cmd(),-3,'-3\r\n",
  );
});
