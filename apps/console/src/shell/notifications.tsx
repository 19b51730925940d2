import { notificationsStore } from '@mantine/notifications';
import { Suspense, useEffect, useState } from 'react';
import { lateComponent } from './late-module.tsx';

const Shown = lateComponent(async () => ({
  default: (await import('./shown-notifications.tsx')).ShownNotifications,
}));

/** Loaded with the first notification, which the store keeps until it can be shown. */
export function LateNotifications() {
  const [isWanted, setIsWanted] = useState(false);
  useEffect(() => notificationsStore.subscribe(() => setIsWanted(true)), []);
  if (!isWanted) return null;
  return (
    <Suspense>
      <Shown />
    </Suspense>
  );
}
