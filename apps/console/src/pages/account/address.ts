export const accountTabs = ['keys', 'members', 'profile', 'security', 'sessions', 'audit'] as const;
export type AccountTab = (typeof accountTabs)[number];
