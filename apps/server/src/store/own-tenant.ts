// The tenant of Stak itself, which has the inboxes of accounts. No account can have a tenant with this name.
export const ownTenant = 'stak';
