import { expect, it } from 'vitest';
import { actionText, targetText, viaText } from './action-text.ts';

it.each([
  ['session.started', 'signed in'],
  ['key.created', 'created a key'],
  ['invitation.sent', 'sent an invitation'],
  ['organisation.renamed', 'renamed an organisation'],
  ['webhooks.createConnection', 'created a connection'],
  ['webhooks.createJob', 'replayed or cancelled several events'],
  ['tenants.create', 'created a tenant'],
  ['tenants.updateSettings', 'changed settings'],
  ['tenants.createInvitation', 'created an invitation'],
  ['webhooks.rotateAlertSecret', 'rotated an alert secret'],
  ['inbox.writeInbox', 'changed an inbox'],
  ['webhooks.tryRules', 'tried rules'],
  ['agents.decideApproval', 'decided an approval'],
  ['something.nobody_knows', 'something nobody knows'],
  ['', ''],
])('describes %s in words', (action, words) => expect(actionText(action)).toBe(words));

it.each([
  ['/v1/tenants/acme', 'tenant acme'],
  ['/v1/tenants/acme/users/ann%40x', 'tenant acme, user ann@x'],
  ['/v1/tenants/acme/tokens', 'tenant acme'],
  ['/v1/tenants/acme/inboxes/news', 'tenant acme, inbox news'],
  ['/v1/tenants/acme/custom-skills/price/test', 'tenant acme, custom skill price'],
  ['/v1/sources', 'source'],
  ['ses_1', '–'],
  ['key_1', 'key_1'],
  ['', ''],
])('names %s', (target, words) => expect(targetText(target)).toBe(words));

it.each([
  ['session', 'Session'],
  ['api_key', 'API key'],
  ['github', 'GitHub'],
])('describes %s in words', (via, words) => expect(viaText(via)).toBe(words));

it('shows names, and the ids of deleted things', () => {
  const names = new Map([['src_1', 'Shop']]);
  expect(targetText('/v1/sources/src_1', names)).toBe('source Shop');
  expect(targetText('/v1/sources/src_1/connections/con_2', names)).toBe('source Shop, connection con_2');
});
