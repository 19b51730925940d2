import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { type OperationId, useMay } from '../../queries/permissions.ts';

type Props = { to: OperationId; children: ReactNode; otherwise?: ReactNode };

/** Shows its children only to people who may call the operation. */
export const Permitted = ({ to, children, otherwise = null }: Props) => (useMay()(to) ? children : otherwise);

/** Fields that everybody can read, disabled for people who may not call the operation. */
export function PermittedFields({ to, children }: Omit<Props, 'otherwise'>) {
  const isPermitted = useMay()(to);
  return (
    <fieldset className="stak-fields" disabled={!isPermitted}>
      {!isPermitted && (
        <Text size="sm" c="dimmed" mb="sm">
          Your role lets you see this, but not change it.
        </Text>
      )}
      {children}
    </fieldset>
  );
}
