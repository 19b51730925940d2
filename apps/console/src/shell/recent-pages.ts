import { useLocalStorage } from '@mantine/hooks';
import { useRouter } from '@tanstack/react-router';
import { session } from '../queries/api.ts';

type RecentPage = { label: string; href: string }; // without the base path of the console
const keptMost = 5;

/** What was opened last from the palette, newest first, in this browser and for this organisation. */
export function useRecentPages() {
  const router = useRouter();
  const [recent, setRecent] = useLocalStorage<RecentPage[]>({
    key: `stak-recent-${session.accountId()}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  // After the navigation, whose address it keeps.
  const remember = (label: string) => {
    const { href } = router.state.location;
    setRecent([{ label, href }, ...recent.filter(page => page.href !== href)].slice(0, keptMost));
  };
  const open = (href: string) => router.navigate({ href: router.basepath + href });
  return { recent: recent.filter(({ href }) => typeof href === 'string'), remember, open };
}
