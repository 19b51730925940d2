// Limits of memberships, with the reason for each.

export const organisationsPerPerson = 100; // one page of a switcher
export const ownedPerPerson = 10; // that one person creates: each includes a free plan
