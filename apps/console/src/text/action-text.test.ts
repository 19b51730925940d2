import { expect, it } from 'vitest';
import { actionText } from './action-text.ts';

it.each([
  ['session.started', 'signed in'],
  ['key.created', 'created a key'],
  ['organisation.renamed', 'renamed an organisation'],
  ['webhooks.createConnection', 'created a connection'],
  ['tenants.create', 'created a tenant'],
  ['tenants.updateSettings', 'changed settings'],
  ['tenants.createInvitation', 'created an invitation'],
  ['webhooks.rotateAlertSecret', 'rotated an alert secret'],
  ['inbox.writeInbox', 'changed an inbox'],
  ['something.nobody_knows', 'something nobody knows'],
  ['', ''],
])('says %s in words', (action, words) => expect(actionText(action)).toBe(words));
