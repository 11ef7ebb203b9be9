/** A line of a comparison: in both texts, only in the first, only in the second. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Beyond this many cells the middle is shown as replaced whole: nobody reads such a difference line by line. */
const mostCells = 4_000_000;

/** Compares two lists of lines and keeps as many as possible. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return [
    ...lines(' ', before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...lines(' ', before.slice(before.length - end)),
  ];
}

function lines(sign: DiffLine['sign'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ sign, text }));
}

/** The longest common subsequence, by the usual table. */
function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  if (before.length === 0 || after.length === 0 || before.length * after.length > mostCells)
    return [...lines('-', before), ...lines('+', after)];
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const result: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      result.push({ sign: ' ', text: before[i]! });
      i += 1;
      j += 1;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) {
      result.push({ sign: '-', text: before[i]! });
      i += 1;
    } else {
      result.push({ sign: '+', text: after[j]! });
      j += 1;
    }
  }
  return [...result, ...lines('-', before.slice(i)), ...lines('+', after.slice(j))];
}

/** Only the lines near a difference; `...` stands for the rest. */
export function withContext(all: readonly DiffLine[], size = 3): DiffLine[] {
  const near = new Set<number>();
  for (const [index, { sign }] of all.entries())
    if (sign !== ' ') for (let at = index - size; at <= index + size; at += 1) near.add(at);
  const shown: DiffLine[] = [];
  let skipped = false;
  for (const [index, line] of all.entries()) {
    if (near.has(index)) shown.push(line);
    else if (!skipped) shown.push({ sign: ' ', text: '...' });
    skipped = !near.has(index);
  }
  return shown;
}
