import './tasks.css';
import { Modal, Skeleton, Stack, Tabs, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { client } from '../../api.ts';
import { useLive } from '../../live.ts';
import { type View, views } from './place.ts';
import { TaskBrowser } from './task-browser.tsx';
import { TaskForm } from './task-form.tsx';
import { type Task, useTaskActions } from './task-queries.ts';
import { TaskTrash } from './task-trash.tsx';
import { Today, useTodayIn, useZone } from './today.ts';

// Loaded by whoever opens them.
const TaskCalendar = lazy(() => import('./task-calendar.tsx'));
const TaskInsights = lazy(() => import('./task-insights.tsx'));
const SqlBox = lazy(() => import('./sql-box.tsx'));

const route = getRouteApi('/inside/tasks');

const labels: Readonly<Record<View, string>> = {
  board: 'Board',
  list: 'List',
  calendar: 'Calendar',
  insights: 'Insights',
  sql: 'SQL',
  trash: 'Trash',
};

export function TasksPage() {
  const { view = 'board' } = route.useSearch();
  const navigate = route.useNavigate();
  const [openId, setOpenId] = useState<string>();
  const { refresh } = useTaskActions();
  const { zone } = useZone();
  const today = useTodayIn(zone);
  const open = (task: Task) => setOpenId(task.task_id);
  useLive(
    'tasks',
    options => client.tasks.events({}, options),
    () => void refresh(),
  );
  const panels: Readonly<Record<View, ReactNode>> = {
    board: <TaskBrowser isBoard onOpen={open} />,
    list: <TaskBrowser isBoard={false} onOpen={open} />,
    calendar: <TaskCalendar onOpen={open} />,
    insights: <TaskInsights />,
    sql: <SqlBox />,
    trash: <TaskTrash />,
  };
  return (
    <Today value={today}>
      <Stack gap="sm">
        <Title order={2}>Tasks</Title>
        <Tabs
          value={view}
          keepMounted={false}
          onChange={next => void navigate({ search: { view: next as View }, replace: true })}
        >
          <Tabs.List aria-label="View" className="stak-tabs">
            {views.map(one => (
              <Tabs.Tab key={one} value={one}>
                {labels[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {views.map(one => (
            <Tabs.Panel key={one} value={one} pt="md">
              <Suspense fallback={<Skeleton h={240} />}>{panels[one]}</Suspense>
            </Tabs.Panel>
          ))}
        </Tabs>
        <Modal opened={openId !== undefined} onClose={() => setOpenId(undefined)} title="Task">
          {openId !== undefined && <TaskForm task_id={openId} onDone={() => setOpenId(undefined)} />}
        </Modal>
      </Stack>
    </Today>
  );
}
