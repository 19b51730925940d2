import { usePages } from '../components/display/pages.tsx';
import { useAnswer, useRows } from './answers.ts';
import { client } from './api.ts';

/** The current organisation and the role of the signed-in person in it. */
export const useOrganisation = () => useAnswer(['organisation'], () => client.accounts.readOrganisation());

export const useOrganisations = () => useRows(['organisations'], () => client.accounts.listOrganisations());

export const useMembers = () =>
  usePages(['members'], cursor => client.accounts.listMembers({ limit: 100, ...cursor }));

/** Who is signed in. */
export const useMe = () => useAnswer(['me'], () => client.accounts.getMe());
