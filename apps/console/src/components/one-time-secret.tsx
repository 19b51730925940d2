import { Alert, Code, Group } from '@mantine/core';
import { CopyLine } from './copy.tsx';

type Props = {
  use?: string; // what it is for, in a sentence
  value: string;
  isFocused?: boolean; // where it takes the place of what had the focus
  onClose?: () => void;
};

export function OneTimeSecret({ use, value, isFocused, onClose }: Props) {
  const closing = onClose && { withCloseButton: true, closeButtonLabel: 'Close', onClose };
  return (
    <Alert
      title={[use, 'Copy it now: it is not shown again'].filter(Boolean).join(' ')}
      styles={{ message: { overflow: 'visible' } }} // else it cuts off the ring around a button with the focus
      {...closing}
    >
      <Group>
        <Code className="stak-mono">{value}</Code>
        <CopyLine value={value} label="Copy" autoFocus={isFocused} />
      </Group>
    </Alert>
  );
}
