/** Where the users of a tenant find their pages. */
export const portalAddress = (origin: string, tenant_id: string): string => `${origin}/portal/${tenant_id}`;

/**
 * The link of an invitation. It leads to the portal, which signs the new user in; without a portal, to a page that only
 * accepts it. In the fragment, the token appears in no server log and no referrer.
 */
export const invitationLink = (
  origin: string,
  { tenant_id, token }: { tenant_id: string; token: string },
  hasPortal: boolean,
): string =>
  hasPortal
    ? `${portalAddress(origin, tenant_id)}#invitation=${token}`
    : `${origin}/console/invitation#${token}`;
