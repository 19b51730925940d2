const exact = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 0,
  maximumFractionDigits: 6,
});
const round = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });

// An answer costs fractions of a cent. Above a few dollars, cents are precise enough.
export const formatCost = (usd: number): string => (usd < 10 ? exact : round).format(usd);
