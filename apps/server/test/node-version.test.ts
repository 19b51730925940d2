import { expect, test } from 'vitest';

const file: string = '../bin/node-version.mjs';
type Judgement = { refused?: string; warning?: string };
const { judge } = (await import(file)) as { judge(version: string): Judgement };

test.each(['20.19.0', '20.20.2', '22.12.0', '24.0.0'])('Node %s is supported', version => {
  expect(judge(version)).toEqual({});
});
test.each(['18.20.8', '20.18.3', '4.9.1'])('Node %s is refused', version => {
  expect(judge(version)).toEqual({
    refused: `this is Node ${version}; Stak needs 20.19 or newer: https://nodejs.org`,
  });
});
test.each(['21.7.3', '23.11.0', '26.0.0'])('Node %s is not tested', version => {
  expect(judge(version)).toEqual({
    warning: `this is Node ${version}; Stak is tested on 20.19, 22 and 24`,
  });
});
