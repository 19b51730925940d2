import { expect, it } from 'vitest';
import { kindOfId } from './ids.ts';

it.each([
  ['evt_0mwivsigm01qent5qk0px6ze', 'event'],
  ['src_0mwivshxl002yh2mlohfb35x', 'source'],
  ['conn_0mwivshxl002yh2mlohfb35x', 'connection'],
  ['tsk_0mjuxvy9s00e000000000000', 'task'],
  ['evt', undefined],
  ['my evt_0m', undefined],
])('%s is the id of a %s', (text, kind) => {
  expect(kindOfId(text)).toBe(kind);
});
