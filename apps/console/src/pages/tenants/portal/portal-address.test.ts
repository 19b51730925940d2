import { expect, it } from 'vitest';
import { invitationLink } from './portal-address.ts';

it('leads an invited person to the portal where there is one, with the token in the fragment', () => {
  const invitation = { tenant_id: 'harbour', token: 'harbour.inv_1.secret' };
  const links = [true, false].map(has => new URL(invitationLink('https://stak.example', invitation, has)));
  expect(links.map(({ pathname, hash, search }) => [pathname, hash, search])).toEqual([
    ['/portal/harbour', '#invitation=harbour.inv_1.secret', ''],
    ['/console/invitation', '#harbour.inv_1.secret', ''],
  ]);
});
