import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import {
  type ComponentType,
  type LazyExoticComponent,
  lazy,
  type ReactNode,
  Suspense,
  useState,
} from 'react';
import { queries } from '../queries/query-client.ts';
import { checkServer, untilReachable } from './reachability.tsx';

// Code that is loaded on demand, or ahead of time when the browser is idle. If the server is unreachable the page
// waits and tries again when the server responds.

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

const ahead: (() => Promise<unknown>)[] = [];
let isLoadingAhead = false;

async function loadPatiently<Module>(load: () => Promise<Module>): Promise<Module> {
  await untilReachable();
  try {
    return await load();
  } catch {
    await checkServer();
    await untilReachable();
  }
  // Browsers cache failed module loads, and a new version has other files: both need a reload.
  return load().catch(async error => {
    if (!(await checkServer())) return loadPatiently(load);
    const reloadedAt = Number(sessionStorage.getItem(reloadKey));
    if (Date.now() - reloadedAt < reloadAgainAfterMs)
      throw new Error('A part of the console could not be loaded.', { cause: error });
    sessionStorage.setItem(reloadKey, String(Date.now()));
    while (queries.isMutating() > 0) await new Promise(resolve => setTimeout(resolve, 100)); // pending changes finish first
    location.reload();
    return new Promise<never>(() => {});
  });
}

const reloadKey = 'stak-reloaded';
const reloadAgainAfterMs = 30_000; // if one reload did not help, the next one will not either

function register(load: () => Promise<unknown>): void {
  ahead.push(load);
  if (isLoadingAhead) void loadNextAhead();
}

// Retried until it loads, and preloaded when the browser is idle.
export function lateComponent<Props extends object>(
  load: Load<Props>,
): LazyExoticComponent<ComponentType<Props>> {
  register(load);
  return lazy(() => loadPatiently(load));
}

// A page: the navigation around it stays visible while it loads.
export function latePage<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): () => ReactNode {
  const loadPage = async () => ({ default: (await load())[name] });
  const Page = lateComponent(loadPage);
  return () => (
    <Suspense fallback={<PageLoading />}>
      <Page />
    </Suspense>
  );
}

const aheadAfterMs = 4_000; // the first page loads first

/** Preloads the code of every page once the browser is idle. Returns a function that cancels it. */
export function loadPagesAhead(): () => void {
  if ((navigator as { connection?: { saveData?: boolean } }).connection?.saveData) return () => {};
  const timer = setTimeout(() => {
    isLoadingAhead = true;
    void loadNextAhead();
  }, aheadAfterMs);
  return () => clearTimeout(timer);
}

let isBusy = false;

async function loadNextAhead(): Promise<void> {
  if (isBusy) return;
  isBusy = true;
  for (let load = ahead.shift(); load; load = ahead.shift()) {
    await new Promise<unknown>(resolve =>
      'requestIdleCallback' in window ? requestIdleCallback(resolve) : setTimeout(resolve, 50),
    );
    await load().catch(() => {}); // the page tries again when it is opened
  }
  isBusy = false;
}

export function PageLoading() {
  return (
    <Stack gap="md" role="status" aria-busy="true" aria-label="Loading">
      <Skeleton h={32} w={220} />
      <Skeleton h={180} />
    </Stack>
  );
}

type FailureProps = { error: unknown; reset: () => void };

// Shown if the code of a page could not be loaded or threw an error.
export function PageFailure({ error, reset }: FailureProps) {
  const [isReloading, setIsReloading] = useState(false);
  const reload = async () => {
    setIsReloading(true);
    // Never leave a page for one that the browser cannot load.
    if (await checkServer()) location.reload();
    else {
      setIsReloading(false);
      reset();
    }
  };
  return (
    <Alert color="red" title="This page could not be shown" role="alert">
      <Group justify="space-between">
        <Text size="sm">
          {error instanceof Error ? error.message : String(error)} Reload it to try again.
        </Text>
        <Button size="xs" variant="light" color="red" loading={isReloading} onClick={reload}>
          Reload
        </Button>
      </Group>
    </Alert>
  );
}
