export const accountTabs = ['keys', 'profile', 'security', 'sessions', 'audit'] as const;
export type AccountTab = (typeof accountTabs)[number];
