import './tasks.css';
import { Modal, Skeleton, Stack, Tabs, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { TabList } from '../../components/display/tab-list.tsx';
import { lateComponent } from '../../shell/late-module.tsx';
import { usePageTitle } from '../../shell/page-title.ts';
import { type View, views } from './address.ts';
import { TaskBrowser } from './task-browser.tsx';
import { useTaskEvents } from './task-events.ts';
import { TaskForm } from './task-form.tsx';
import type { Task } from './task-queries.ts';
import { Today, useTodayIn, useZone } from './today.ts';

// Loaded when they are opened.
const TaskCalendar = lateComponent(() => import('./task-calendar.tsx'));
const TaskTrash = lateComponent(() => import('./task-trash.tsx'));

const route = getRouteApi('/inside/tasks');

const labels: Readonly<Record<View, string>> = {
  board: 'Board',
  list: 'List',
  calendar: 'Calendar',
  trash: 'Trash',
};

export function TasksPage() {
  const view = route.useSearch({ select: ({ view: chosen = 'board' }) => chosen });
  const navigate = route.useNavigate();
  usePageTitle(labels[view], 'Tasks');
  const open = (task: Task) => void navigate({ search: before => ({ ...before, task: task.task_id }) });
  const { zone } = useZone();
  const today = useTodayIn(zone);
  useTaskEvents();
  const panels: Readonly<Record<View, ReactNode>> = {
    board: <TaskBrowser isBoard onOpen={open} />,
    list: <TaskBrowser isBoard={false} onOpen={open} />,
    calendar: <TaskCalendar onOpen={open} />,
    trash: <TaskTrash />,
  };
  return (
    <Today value={today}>
      <Stack gap="sm">
        <Title order={2}>Tasks</Title>
        <Tabs
          value={view}
          keepMounted={false}
          onChange={next => void navigate({ search: before => ({ ...before, view: next as View }) })}
        >
          <TabList aria-label="View" chosen={view}>
            {views.map(view => (
              <Tabs.Tab key={view} value={view}>
                {labels[view]}
              </Tabs.Tab>
            ))}
          </TabList>
          {views.map(view => (
            <Tabs.Panel key={view} value={view} pt="md">
              <Suspense fallback={<Skeleton h={240} />}>{panels[view]}</Suspense>
            </Tabs.Panel>
          ))}
        </Tabs>
        <OpenTask />
      </Stack>
    </Today>
  );
}

// A separate component, so that opening a card does not redraw the others.
function OpenTask() {
  const openId = route.useSearch({ select: ({ task }) => task });
  const navigate = route.useNavigate();
  const close = () => void navigate({ search: ({ task: _, ...rest }) => rest });
  const open = (task: string) => void navigate({ search: before => ({ ...before, task }) });
  return (
    <Modal opened={openId !== undefined} onClose={close} title="Task" size="lg">
      {openId !== undefined && <TaskForm key={openId} task_id={openId} onDone={close} onOpen={open} />}
    </Modal>
  );
}
