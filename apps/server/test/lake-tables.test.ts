import { storageTable } from '@stak/accounts';
import { httpTable } from '@stak/http/table';
import { streamsTable } from '@stak/streams';
import { describe, expect, it } from 'vitest';
import { followed } from '../src/store/lake/lake-tables.ts';

// As a thread sees them that loads nothing else.
const known = followed.map(({ table }) => table.entities.map(({ name }) => name));
const { designs } = await import('../src/store/designs.ts');
await import('../src/compose/compose.ts');

const entities = followed.flatMap(({ entities = [] }) => entities);

describe('the lake', () => {
  it('follows every table, except those with Stak’s own checkpoints', () => {
    const own = [httpTable, streamsTable, storageTable].map(({ name }) => name);
    const tables = designs.map(({ name }) => name).filter(name => !own.includes(name));
    expect(followed.map(({ table }) => table.name).sort()).toEqual(tables.sort());
  });

  it('knows every entity of its tables without the services', () => {
    expect(known).toEqual(followed.map(({ table }) => table.entities.map(({ name }) => name)));
  });

  it('has an owner for every row', () => {
    expect(entities.filter(one => !(one.ownerOf || one.text) || !one.view)).toEqual([]);
    const views = entities.map(({ view }) => view);
    expect(new Set(views).size).toBe(views.length);
  });

  it('shows a body as text or base64, and the first part of a large one, up to a whole character', () => {
    const { of } = entities.find(({ view }) => view === 'event_bodies')!.text!;
    const part = { eventId: 'e', sourceId: 's', receivedAt: 1, part: 0, parts: 1, headers: '[["auth","x"]]' };
    const shown = { eventId: 'e', sourceId: 's', receivedAt: 1, isWhole: true };
    expect(of({ ...part, body: Buffer.from('grüße') })).toEqual({
      ...shown,
      body: 'grüße',
      encoding: 'utf8',
    });
    expect(of(part)).toEqual({ ...shown, body: '', encoding: 'utf8' });
    expect(of({ ...part, body: Buffer.from([0xff, 0]) })).toEqual({
      ...shown,
      body: '/wA=',
      encoding: 'base64',
    });
    const cut = { ...part, parts: 2, body: Buffer.from('grü').subarray(0, 3) };
    expect(of(cut)).toEqual({ ...shown, isWhole: false, body: 'gr', encoding: 'utf8' });
    expect(of({ ...cut, part: 1 })).toBeUndefined();
  });

  it.each(entities.map(one => [one.entity.name, one] as const))('keeps no secret of %s', (_, one) => {
    const { entity, omit = [], text } = one;
    const names = Object.keys((text ?? entity).schema.shape);
    expect(omit.filter(name => !names.includes(name))).toEqual([]); // a name that was changed hides nothing
    const shown = names.filter(name => !omit.includes(name));
    expect(
      shown.filter(name => /secret|hash|token(?!s)|password|sealed|digest|stripe.*id/i.test(name)),
    ).toEqual([]);
  });
});
