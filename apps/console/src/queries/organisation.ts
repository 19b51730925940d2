import { useQuery } from '@tanstack/react-query';
import { usePages } from '../components/display/pages.tsx';
import { client } from './api.ts';

/** The current organisation and the role of the signed-in person in it. */
export const useOrganisation = () =>
  useQuery({
    queryKey: ['organisation'],
    queryFn: async () => (await client.accounts.readOrganisation()).data,
  });

export const useOrganisations = () =>
  useQuery({
    queryKey: ['organisations'],
    queryFn: async () => (await client.accounts.listOrganisations()).data.data,
  });

export const useMembers = () =>
  usePages(['members'], cursor => client.accounts.listMembers({ limit: 100, ...cursor }));

/** Who is signed in. */
export const useMe = () =>
  useQuery({ queryKey: ['me'], queryFn: async () => (await client.accounts.getMe()).data });
