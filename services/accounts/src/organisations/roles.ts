import type { Permission } from '../schema.ts';

export const roleNames = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roleNames)[number];

type Rules = {
  scope: Permission; // what a session of theirs holds: every route says which scope it needs
  manages: readonly Role[]; // whom they invite, remove and change, and to what
  may: string;
};

// What each member of an organisation may do. Routes for owners alone say so themselves, by `role: 'owner'`.
export const roles: Readonly<Record<Role, Rules>> = {
  owner: {
    scope: 'admin',
    manages: roleNames,
    may: 'Everything an admin may; also pays, makes other owners and hands the organisation over.',
  },
  admin: {
    scope: 'admin',
    manages: ['admin', 'member', 'viewer'],
    may: 'Everything a member may; also API keys, members below an owner, credentials and the audit trail.',
  },
  member: {
    scope: 'write',
    manages: [],
    may: 'Everything a viewer may; also makes, changes and deletes what the organisation works with.',
  },
  viewer: { scope: 'read', manages: [], may: 'Sees what the organisation has, and changes nothing.' },
};
