import type { Permission } from './schema.ts';

export const roleNames = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roleNames)[number];

type Rules = {
  scope: Permission; // of their sessions; every route declares the scope it needs
  manages: readonly Role[]; // the roles that they may invite, remove and assign
  may: string;
};

// The rights of each member of an organisation. Routes for owners only declare `role: 'owner'`.
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
