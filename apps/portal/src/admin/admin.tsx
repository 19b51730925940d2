import type { AdminPage } from '../main.tsx';
import { Channels } from './channels.tsx';
import { Settings } from './settings.tsx';
import { Skills } from './skills.tsx';
import { Usage } from './usage.tsx';
import { Users } from './users.tsx';

const pages = { users: Users, settings: Settings, channels: Channels, skills: Skills, usage: Usage };

export default function Admin({ page }: { page: AdminPage }) {
  const Page = pages[page];
  return <Page />;
}
