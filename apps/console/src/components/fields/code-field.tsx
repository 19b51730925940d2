import { Input, Skeleton } from '@mantine/core';
import { type ReactNode, Suspense, useId } from 'react';
import { lateComponent } from '../../shell/late-module.tsx';
import type { EditorProps } from './code-editor.tsx';

// A quarter of a megabyte: loaded with the first field that needs it.
const CodeEditor = lateComponent(() => import('./code-editor.tsx'));

type Props = Omit<EditorProps, 'labelledBy' | 'describedBy'> & {
  label: string;
  isLabelHidden?: boolean;
  description?: ReactNode;
  error?: ReactNode;
};

/** A field for code, with colours, brackets that match and completion. */
export function CodeField({ label, isLabelHidden = false, description, error, ...editor }: Props) {
  const id = useId();
  return (
    <Input.Wrapper
      label={isLabelHidden ? undefined : label}
      labelElement="div"
      labelProps={{ id: `${id}-label` }}
      description={description}
      descriptionProps={{ id: `${id}-description` }}
      error={error}
      errorProps={{ id: `${id}-error` }}
    >
      <Suspense fallback={<Skeleton h={120} />}>
        <CodeEditor
          {...editor}
          label={label}
          isInvalid={Boolean(error)}
          describedBy={error ? `${id}-error` : description ? `${id}-description` : undefined}
        />
      </Suspense>
    </Input.Wrapper>
  );
}
