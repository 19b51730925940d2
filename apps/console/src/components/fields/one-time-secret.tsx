import { Alert, Code, Group } from '@mantine/core';
import { CopyLine } from './copy.tsx';

type Props = {
  use?: string; // what it is for, in a sentence
  value: string;
  isFocused?: boolean; // if it replaces the element that had the focus
  onClose?: () => void;
};

export function OneTimeSecret({ use, value, isFocused, onClose }: Props) {
  const closing = onClose && { withCloseButton: true, closeButtonLabel: 'Close', onClose };
  return (
    <Alert
      title={[use, 'Copy it now: it is not shown again'].filter(Boolean).join(' ')}
      styles={{ message: { overflow: 'visible' } }} // otherwise it cuts off the focus ring of a button
      {...closing}
    >
      <Group>
        <Code className="stak-mono">{value}</Code>
        <CopyLine value={value} label="Copy" autoFocus={isFocused} />
      </Group>
    </Alert>
  );
}
