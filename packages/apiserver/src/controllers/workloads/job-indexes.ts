/** Reads `status.completedIndexes`, such as `1,3-5,7`. */
export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',').filter(Boolean)) {
    const [first, last = first] = part.split('-').map(Number);
    for (let index = first!; index <= last!; index++) {
      indexes.add(index);
    }
  }
  return indexes;
}

/** The opposite: sorted, runs of three and more joined by a dash as the real controller writes them. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (sorted[end + 1] === sorted[end]! + 1) {
      end++;
    }
    const length = end - start + 1;
    if (length === 1) {
      parts.push(String(sorted[start]));
    } else if (length === 2) {
      parts.push(`${sorted[start]},${sorted[end]}`);
    } else {
      parts.push(`${sorted[start]}-${sorted[end]}`);
    }
    start = end + 1;
  }
  return parts.join(',');
}
