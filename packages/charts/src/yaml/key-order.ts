import { runes } from '../go/bytes.ts';

const letter = /\p{L}/u;
const digit = /\p{Nd}/u;

/** go-yaml's order of keys: letters after everything else, runs of digits by their number (`a2` before `a10`). */
export function naturalCompare(a: string, b: string): number {
  const x = runes(a);
  const y = runes(b);
  const common = Math.min(x.length, y.length);
  for (let i = 0; i < common; i += 1) {
    const left = x[i]!;
    const right = y[i]!;
    if (left === right) continue;
    const leftIsLetter = letter.test(left);
    const rightIsLetter = letter.test(right);
    if (leftIsLetter && rightIsLetter) return left.codePointAt(0)! - right.codePointAt(0)!;
    if (leftIsLetter || rightIsLetter) return rightIsLetter ? -1 : 1;
    return compareFrom(x, y, i);
  }
  return x.length - y.length;
}

function compareFrom(x: readonly string[], y: readonly string[], at: number): number {
  let leftNumber = 0n;
  let rightNumber = 0n;
  if (x[at] === '0' || y[at] === '0') {
    // A zero inside a number counts, one that leads does not.
    for (let j = at - 1; j >= 0 && digit.test(x[j]!); j -= 1) {
      if (x[j] !== '0') {
        leftNumber = 1n;
        rightNumber = 1n;
        break;
      }
    }
  }
  let leftEnd = at;
  while (leftEnd < x.length && digit.test(x[leftEnd]!)) {
    leftNumber = BigInt.asIntN(64, leftNumber * 10n + BigInt(x[leftEnd]!.codePointAt(0)! - 48));
    leftEnd += 1;
  }
  let rightEnd = at;
  while (rightEnd < y.length && digit.test(y[rightEnd]!)) {
    rightNumber = BigInt.asIntN(64, rightNumber * 10n + BigInt(y[rightEnd]!.codePointAt(0)! - 48));
    rightEnd += 1;
  }
  if (leftNumber !== rightNumber) return leftNumber < rightNumber ? -1 : 1;
  if (leftEnd !== rightEnd) return leftEnd - rightEnd;
  return x[at]!.codePointAt(0)! - y[at]!.codePointAt(0)!;
}

const plainKey = /^[a-zA-Z]*$/;

/** Keys in go-yaml's order; most are letters only, whose order is that of JavaScript. */
export function naturalOrder(keys: Iterable<string>): string[] {
  return [...keys].sort((a, b) => {
    if (plainKey.test(a) && plainKey.test(b)) return a < b ? -1 : a > b ? 1 : 0;
    return naturalCompare(a, b);
  });
}
