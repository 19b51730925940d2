// Lags and units are read often, because an operator watches them.
export const refetchInterval = 15_000;
