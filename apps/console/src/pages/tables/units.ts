const units = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

export const formatUnits = (value: number): string => units.format(value);

// The capacity units of one call, read or write.
export function formatPerCall(readUnits: number, writeUnits: number): string {
  const parts = [
    readUnits > 0 ? `${units.format(readUnits)} RCU` : '',
    writeUnits > 0 ? `${units.format(writeUnits)} WCU` : '',
  ];
  return parts.filter(Boolean).join(' + ') || '–';
}
