/** The later of two versions, the first where they are the same. Never back: `1.30` is not later than `1.30.2`. */
export function laterVersion(present: string | undefined, wanted: string | undefined): string | undefined {
  if (!present || !wanted) return present ?? wanted;
  const numbers = (version: string): number[] => version.split('.').map(Number);
  const [a, b] = [numbers(present), numbers(wanted)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (b[index] ?? 0) - (a[index] ?? 0);
    if (difference !== 0) return difference > 0 ? wanted : present;
  }
  return present;
}
