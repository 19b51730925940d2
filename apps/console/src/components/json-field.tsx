import { JsonInput, type JsonInputProps } from '@mantine/core';

// JSON that people write by hand: it grows with its text, and says when it is none.
export const JsonField = ({ minRows = 4, ...props }: JsonInputProps) => (
  <JsonInput
    autosize
    minRows={minRows}
    validationError="This is not JSON"
    classNames={{ input: 'stak-mono' }}
    {...props}
  />
);
