export const accountTabs = ['keys', 'profile', 'sessions', 'audit'] as const;
export type AccountTab = (typeof accountTabs)[number];
