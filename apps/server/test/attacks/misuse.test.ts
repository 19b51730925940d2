import { codeOf } from '@stak/accounts/authenticator-app';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeReference } from '../../src/compose/document.ts';
import { shiftedClock } from '../walk/credentials.ts';
import { type Customer, type Fixture, logInAgain, openFixture, send } from '../walk/fixture.ts';
import { readDocument } from './documented-requests.ts';

// A caller uses what they were given for something else: cursors, old sessions, saved views, exports.

const clock = shiftedClock();
let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture(clock);
  for (const [i, customer] of [fixture.owner, fixture.stranger].entries())
    await furnish(customer, `room${i}`);
}, 60_000);
afterAll(() => fixture?.server.stop());

const ask = (method: string, path: string, token: string, body?: unknown) =>
  send(fixture.server.url, { method, path, token, ...(body !== undefined && { body }) });

// A spreadsheet would calculate or run these.
const formulas = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '|calc',
  '%0A',
  '\t=1',
  ' =1',
  '＝1',
  '=HYPERLINK("https://x","y")',
];

async function furnish({ keys }: Customer, tenant_id: string): Promise<void> {
  await ask('POST', '/v1/tenants', keys.admin, { tenant_id, name: '=Room()', status: 'active' });
  await ask('POST', '/v1/tenants', keys.admin, {
    tenant_id: `${tenant_id}b`,
    name: '=Room()',
    status: 'active',
  });
  for (const i of [0, 1, 2]) {
    const user = { user_id: `u${i}`, display_name: formulas[i] };
    await ask('POST', `/v1/tenants/${tenant_id}/users`, keys.admin, user);
    await ask('POST', '/v1/sources', keys.admin, { name: formulas[i] });
    await ask('POST', `/v1/tenants/${tenant_id}/conversations`, keys.admin, { user_id: 'u0' });
  }
  for (const title of formulas)
    await ask('POST', '/v1/tasks', keys.admin, {
      title,
      description: title,
      labels: [title.trim()],
      category: title.trim(),
    });
  const inbox = `/v1/tenants/${tenant_id}/inboxes/news`;
  await ask('PUT', inbox, keys.admin, { title: '=News()' });
  for (const title of formulas.slice(0, 3)) {
    const message = { title, body: title };
    for (const uids of [['u0', 'u1'], ['=u2']])
      await ask('POST', `${inbox}/messages`, keys.admin, { uids, message });
  }
}

const operations = readDocument();

describe('cursors', () => {
  type Page = { path: string; cursor: string };

  async function firstPages({ keys, session }: Customer, tenant_id: string): Promise<Page[]> {
    const ids: Record<string, string> = {
      tenant_id,
      inbox_key: 'news',
      user_id: 'u0',
      uid: 'u0',
      kind: 'sql',
    };
    const pages: Page[] = [];
    for (const { path, parameters, method } of operations) {
      if (method !== 'GET' || !parameters.some(({ name }) => name === 'cursor')) continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');
      for (const token of [keys.admin, session]) {
        const { status, json } = await ask('GET', `${filled}?limit=1`, token);
        const cursor = status === 200 && (json as { next_cursor?: string }).next_cursor;
        if (!cursor) continue;
        pages.push({ path: filled, cursor });
        break;
      }
    }
    return pages;
  }

  test('belong to their caller, their list and their question, and cannot be made', async () => {
    const ours = await firstPages(fixture.owner, 'room0');
    const theirs = await firstPages(fixture.stranger, 'room1');
    expect(ours.length).toBeGreaterThanOrEqual(5);
    const token = fixture.stranger.keys.admin;
    const tryOn = async (path: string, cursor: string) =>
      (await ask('GET', `${path}?limit=1&cursor=${encodeURIComponent(cursor)}`, token)).status;
    for (const { path, cursor } of theirs) {
      const others = [...ours, ...theirs].filter(one => one.cursor !== cursor).map(one => one.cursor);
      const raw = Buffer.from(cursor, 'base64url');
      const flipped = [0, 12, raw.length - 1].map(at => {
        const copy = Buffer.from(raw);
        copy[at]! ^= 1;
        return copy.toString('base64url');
      });
      const made = [{}, { pk: 'USER#x', sk: 'A' }, null].map(key =>
        Buffer.from(JSON.stringify(key)).toString('base64url'),
      );
      for (const forged of [...others, ...flipped, ...made, `${cursor}A`, cursor.slice(0, -2), `${cursor}=`])
        expect([400, 403], `${path} ${forged}`).toContain(await tryOn(path, forged));
    }
  });
});

describe('a session whose second factor was shown long ago', () => {
  test('cannot do what would take over the account', async () => {
    const { owner } = fixture;
    const { json: begun } = await ask('POST', '/v1/me/authenticator', owner.session, {
      password: owner.password,
    });
    const code = codeOf((begun as { secret: string }).secret);
    const { status } = await ask('POST', '/v1/me/authenticator/confirm', owner.session, { code });
    expect(status).toBe(200);
    const attempts: [string, string, unknown?][] = [
      ['POST', '/v1/api-keys', { name: 'mine now', permissions: 'admin' }],
      ['POST', '/v1/me/authenticator/removal', { password: owner.password }],
      ['POST', '/v1/me/recovery-codes'],
      ['POST', '/v1/me/passkeys/registration', { password: owner.password }],
      ['POST', '/v1/me/deletion', { password: owner.password }],
      ['POST', '/v1/me/download', { passphrase: 'correct horse battery' }],
      [
        'PUT',
        '/v1/organisation/provider',
        {
          issuer: 'https://example.com',
          clientId: 'x',
          clientSecret: 'y',
          domains: ['example.com'],
          defaultRole: 'admin',
        },
      ],
    ];
    clock.shift(11 * 60_000);
    for (const [method, path, body] of attempts) {
      const answer = await ask(method, path, owner.session, body);
      expect([answer.status, (answer.json as { code?: string }).code], path).toEqual([
        403,
        'accounts.step_up_needed',
      ]);
    }
    // A wrong code proves nothing, for this session or another.
    expect((await ask('POST', '/v1/auth/step-up', owner.session, { code: '000000' })).status).toBe(403);
    expect((await ask('POST', '/v1/me/recovery-codes', owner.session)).status).toBe(403);
    clock.shift(0);
  });
});

test('saved views come back as they were written, to their account only', async () => {
  const { owner, stranger } = fixture;
  const texts = [
    '<script>alert(1)</script>',
    '"}],"x":[{"',
    "' or 1=1; drop table tasks; --",
    '\u202e\u0007',
    '__proto__',
  ];
  for (const text of texts) {
    const path = `/v1/saved/sql/${encodeURIComponent(text.replace(/\p{Cc}|\u202e/gu, '') || 'odd')}`;
    const saved = await ask('PUT', path, owner.keys.admin, { text });
    expect(saved.status, saved.text).toBe(200);
  }
  const listed = await ask('GET', '/v1/saved/sql', owner.keys.admin);
  expect(listed.headers.get('content-type')).toMatch(/^application\/json/);
  expect(listed.headers.get('x-content-type-options')).toBe('nosniff');
  const found = (listed.json as { data: { text: string }[] }).data.map(({ text }) => text);
  expect(found.toSorted()).toEqual(texts.toSorted());
  for (const path of ['/v1/saved/__proto__', '/v1/saved/sql%23', '/v1/saved/constructor'])
    expect((await ask('GET', path, owner.keys.admin)).status).toBe(400);
  for (const name of ['..', '%2e%2e', '.', 'a%0ab', '%00'])
    expect([400, 404, 405], name).toContain(
      (await ask('PUT', `/v1/saved/sql/${name}`, owner.keys.admin, { text: 'x' })).status,
    );
  expect((await ask('GET', '/v1/saved/sql', stranger.keys.admin)).text).not.toContain('script');
  const theirs = await ask('DELETE', `/v1/saved/sql/${encodeURIComponent(texts[0]!)}`, stranger.keys.admin);
  expect(theirs.status).toBe(204);
  expect((await ask('GET', '/v1/saved/sql', owner.keys.admin)).text).toContain('<script>');
});

// RFC 4180, as far as our own files need it.
function cellsOf(csv: string): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(?:,|\r?\n|$)/g))
    cells.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
  return cells;
}

const looksLikeFormula = /^[\s\p{Z}]*[=+\-@|%＝＋－＠]/u;
const isNumber = /^-?\d+(\.\d+)?$/;

test('no export has a cell that a spreadsheet calculates', async () => {
  type Route = { responses?: Record<string, { content?: Record<string, unknown> }> };
  const { paths } = describeReference() as unknown as { paths: Record<string, Record<string, Route>> };
  const offersCsv = (path: string, method: string) =>
    Object.values(paths[path]?.[method]?.responses ?? {}).some(({ content = {} }) => 'text/csv' in content);
  const exporting = operations.filter(({ path, method }) => offersCsv(path, method.toLowerCase()));
  expect(exporting.length).toBeGreaterThanOrEqual(3);
  const { owner } = fixture;
  await logInAgain(fixture, fixture.stranger);
  const { json: sends } = await ask('GET', '/v1/tenants/room0/inboxes/news/sends', owner.keys.admin);
  const [firstSend] = (sends as { data: { id: string }[] }).data;
  const ids: Record<string, string> = { tenant_id: 'room0', inbox_key: 'news', id: firstSend!.id };
  const columns = formulas.map((one, i) => `'${one.replaceAll("'", "''")}' as "=c${i}"`).join(', ');
  let cells = 0;
  for (const { path, method } of exporting) {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!);
    const { status, text } = await send(fixture.server.url, {
      method,
      path: method === 'GET' ? `${filled}?format=csv` : filled,
      token: owner.keys.admin,
      headers: { accept: 'text/csv' },
      ...(method === 'POST' && { body: { sql: `select ${columns}, -1 as n`, format: 'csv' } }),
    });
    if (status !== 200) {
      // Without `format`, for one that has only this.
      const plain = await send(fixture.server.url, {
        method,
        path: filled,
        token: owner.keys.admin,
        headers: { accept: 'text/csv' },
      });
      expect(plain.status, `${path}: ${text} ${plain.text}`).toBe(200);
      check(plain.text, path);
    } else check(text, path);
  }
  expect(cells).toBeGreaterThan(50);

  function check(csv: string, path: string): void {
    for (const cell of cellsOf(csv)) {
      cells += 1;
      expect(looksLikeFormula.test(cell) && !isNumber.test(cell), `${path}: ${JSON.stringify(cell)}`).toBe(
        false,
      );
    }
  }
});
