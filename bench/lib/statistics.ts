/** The value below which `share` (0 to 1) of the samples lie. NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}
