import { isAscii, runes } from '../go/bytes.ts';

function isLetter(char: string): boolean {
  return char <= lastAscii ? /[A-Za-z]/.test(char) : /\p{L}/u.test(char);
}

function isDigit(char: string): boolean {
  return char <= lastAscii ? char >= '0' && char <= '9' : /\p{Nd}/u.test(char);
}

const lastAscii = '\x7f';

/** go-yaml's order of keys: letters after everything else, runs of digits by their number (`a2` before `a10`). */
function naturalCompare(a: string, b: string): number {
  const areAscii = isAscii(a) && isAscii(b);
  const x = areAscii ? a : runes(a);
  const y = areAscii ? b : runes(b);
  const common = Math.min(x.length, y.length);
  for (let i = 0; i < common; i += 1) {
    const left = x[i]!;
    const right = y[i]!;
    if (left === right) continue;
    const leftIsLetter = isLetter(left);
    const rightIsLetter = isLetter(right);
    if (leftIsLetter && rightIsLetter) return left.codePointAt(0)! - right.codePointAt(0)!;
    if (leftIsLetter || rightIsLetter) return rightIsLetter ? -1 : 1;
    return compareFrom(x, y, i);
  }
  return x.length - y.length;
}

function compareFrom(x: ArrayLike<string>, y: ArrayLike<string>, at: number): number {
  let leftNumber = 0n;
  let rightNumber = 0n;
  if (x[at] === '0' || y[at] === '0') {
    // A zero inside a number counts, one that leads does not.
    for (let j = at - 1; j >= 0 && isDigit(x[j]!); j -= 1) {
      if (x[j] !== '0') {
        leftNumber = 1n;
        rightNumber = 1n;
        break;
      }
    }
  }
  let leftEnd = at;
  while (leftEnd < x.length && isDigit(x[leftEnd]!)) {
    leftNumber = BigInt.asIntN(64, leftNumber * 10n + BigInt(x[leftEnd]!.codePointAt(0)! - 48));
    leftEnd += 1;
  }
  let rightEnd = at;
  while (rightEnd < y.length && isDigit(y[rightEnd]!)) {
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
