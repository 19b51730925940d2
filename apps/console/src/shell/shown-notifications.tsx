import '@mantine/notifications/styles.css';

export { Notifications as ShownNotifications } from '@mantine/notifications';
