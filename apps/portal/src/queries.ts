export const usersKey = ['users'];
export const invitationsKey = ['invitations'];
export const settingsKey = ['settings'];
export const channelsKey = ['channels'];
export const skillsKey = ['skills'];
export const providerKey = ['provider'];
