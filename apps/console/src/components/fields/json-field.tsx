import { JsonInput, type JsonInputProps } from '@mantine/core';

// A field for JSON written by hand. It grows with its text and reports invalid JSON.
export const JsonField = ({ minRows = 4, ...props }: JsonInputProps) => (
  <JsonInput
    autosize
    minRows={minRows}
    validationError="Enter valid JSON"
    classNames={{ input: 'stak-mono' }}
    {...props}
  />
);
