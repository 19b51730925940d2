import { useDocumentTitle } from '@mantine/hooks';

/** Sets the title of the browser tab, most specific part first: "Events · Stripe · Stak". */
export const usePageTitle = (...parts: (string | undefined)[]): void =>
  useDocumentTitle([...parts.filter(Boolean), 'Stak'].join(' · '));
