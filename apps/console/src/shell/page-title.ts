import { useDocumentTitle } from '@mantine/hooks';

/** What the browser's tab and history call the page, the most particular first: "Events · Stripe · Stak". */
export const usePageTitle = (...parts: (string | undefined)[]): void =>
  useDocumentTitle([...parts.filter(Boolean), 'Stak'].join(' · '));
