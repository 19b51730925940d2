const exact = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 0,
  maximumFractionDigits: 6,
});
const round = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });

// One answer costs fractions of a cent; cents are enough for what is more than a few dollars.
export const formatCost = (usd: number): string => (usd < 10 ? exact : round).format(usd);
