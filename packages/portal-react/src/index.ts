export { Chat, Inboxes, Memory, Portal, type PortalPage, Profile, Tasks } from './portal.tsx';
export { PortalProvider, type PortalSettings } from './provider.tsx';
export { type PortalUser, usePortalUser } from './queries.ts';
