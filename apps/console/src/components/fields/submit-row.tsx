import { Button, type ButtonProps, Group } from '@mantine/core';

type Props = Omit<ButtonProps, 'type' | 'loading'> & { isBusy: boolean };

// The button that sends a form, at its end.
export const SubmitRow = ({ isBusy, ...button }: Props) => (
  <Group justify="end">
    <Button type="submit" loading={isBusy} {...button} />
  </Group>
);
