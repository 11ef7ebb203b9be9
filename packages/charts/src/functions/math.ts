import { show } from '../go/format.ts';
import { int64, typed, type Value } from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { parseInteger } from '../template/numbers.ts';
import { fn, inRun, variadic } from '../template/signature.ts';
import {
  addDecimals,
  decimalOf,
  divideDecimals,
  multiplyDecimals,
  numberOf,
  subtractDecimals,
  type Decimal,
  type DecimalOperation,
} from './decimal.ts';
import { toFloat, toInteger } from './convert.ts';
import { environmentOf } from './environment.ts';

/** A list of numbers longer than this is a mistake in a chart, or an attack. */
const longestRange = 10_000_000n;

function untilStep(start: bigint, stop: bigint, step: bigint): Value[] {
  const numbers: Value[] = [];
  if ((stop < start && step >= 0n) || (stop >= start && step <= 0n)) return typed(numbers, '[]int');
  const distance = stop < start ? start - stop : stop - start;
  if (distance / (step < 0n ? -step : step) > longestRange)
    throw new Error(`a list of ${distance} numbers is too long`);
  for (let i = start; stop < start ? i > stop : i < stop; i += step) numbers.push(i);
  return typed(numbers, '[]int');
}

function sequence(params: bigint[]): string {
  const text = (numbers: Value[]) => numbers.join(' ');
  if (params.length === 1) {
    const [end] = params as [bigint];
    const step = end < 1n ? -1n : 1n;
    return text(untilStep(1n, end + step, step));
  }
  if (params.length === 2) {
    const [start, end] = params as [bigint, bigint];
    const step = end < start ? -1n : 1n;
    return text(untilStep(start, end + step, step));
  }
  if (params.length !== 3) return '';
  const [start, step, end] = params as [bigint, bigint, bigint];
  if (end < start && step > 0n) return '';
  return text(untilStep(start, end + (end < start ? -1n : 1n), step));
}

function divide(a: Value, b: Value): bigint {
  const divisor = toInteger(b);
  if (divisor === 0n) throw new Error('runtime error: integer divide by zero');
  return toInteger(a) / divisor;
}

function remainder(a: Value, b: Value): bigint {
  const divisor = toInteger(b);
  if (divisor === 0n) throw new Error('runtime error: integer divide by zero');
  return toInteger(a) % divisor;
}

function fold(operation: (a: bigint, b: bigint) => bigint) {
  return (first: Value, ...others: Value[]) =>
    int64(
      others.reduce<bigint>((total, item) => BigInt.asIntN(64, operation(total, toInteger(item))), toInteger(first)),
    );
}

function foldDecimals(operation: DecimalOperation) {
  // Only the end is rounded to a float.
  return (first: Value, ...others: Value[]) =>
    numberOf(
      others.reduce<Decimal>((total, item) => operation(total, decimalOf(toFloat(item))), decimalOf(toFloat(first))),
    );
}

/** Go's `math.Pow(10, n)`: by squaring, which beyond 22 digits rounds otherwise than JavaScript's. */
function powerOfTen(exponent: number): number {
  if (Math.abs(exponent) > 1000) return exponent > 0 ? Infinity : 0;
  let result = 1;
  let resultPower = 0;
  // 10 = 0.625 * 2^4
  let factor = 0.625;
  let factorPower = 4;
  for (let left = Math.abs(exponent); left !== 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) {
      result *= factor;
      resultPower += factorPower;
    }
    factor *= factor;
    factorPower *= 2;
    if (factor < 0.5) {
      factor += factor;
      factorPower -= 1;
    }
  }
  // In two steps, for neither may leave the range of floats before the other.
  const scaled = (mantissa: number, power: number) => {
    const half = Math.trunc(power / 2);
    return mantissa * 2 ** half * 2 ** (power - half);
  };
  return exponent < 0 ? scaled(1 / result, -resultPower) : scaled(result, resultPower);
}

/** An infinity decides before what is no number does. */
function extreme(limit: number, choose: (...numbers: number[]) => number) {
  return (a: number, b: number) => (a === limit || b === limit ? limit : choose(a, b));
}

const larger = extreme(Infinity, Math.max);
const smaller = extreme(-Infinity, Math.min);

function round(value: Value, places: bigint, on = 0.5): number {
  const power = powerOfTen(Number(places));
  const digit = power * toFloat(value);
  const fraction = digit - Math.trunc(digit);
  return (fraction >= on ? Math.ceil(digit) : Math.floor(digit)) / power;
}

const max = fold((a, b) => (b > a ? b : a));

export const mathFunctions: FunctionTable = new Map<string, TemplateFunction>([
  [
    'atoi',
    fn(['string'], (text) => {
      const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : 0n;
      // Beyond the range of an int, Go answers the nearest one.
      return value > (1n << 63n) - 1n ? (1n << 63n) - 1n : value < -(1n << 63n) ? -(1n << 63n) : value;
    }),
  ],
  ['int64', fn(['any'], (value) => int64(toInteger(value)))],
  ['int', fn(['any'], toInteger)],
  ['float64', fn(['any'], toFloat)],
  ['toDecimal', fn(['any'], (value) => int64(octal(show(value))))],
  ['seq', variadic([], 'int', (...params) => sequence(params))],
  ['until', fn(['int'], (count) => untilStep(0n, count, count < 0n ? -1n : 1n))],
  ['untilStep', fn(['int', 'int', 'int'], untilStep)],
  ['add1', fn(['any'], (value) => int64(toInteger(value) + 1n))],
  ['add', variadic([], 'any', (...values) => fold((a, b) => a + b)(0n, ...values))],
  ['sub', fn(['any', 'any'], (a, b) => int64(toInteger(a) - toInteger(b)))],
  ['div', fn(['any', 'any'], (a, b) => int64(divide(a, b)))],
  ['mod', fn(['any', 'any'], (a, b) => int64(remainder(a, b)))],
  [
    'mul',
    variadic(
      ['any'],
      'any',
      fold((a, b) => a * b),
    ),
  ],
  ['max', variadic(['any'], 'any', max)],
  ['biggest', variadic(['any'], 'any', max)],
  [
    'min',
    variadic(
      ['any'],
      'any',
      fold((a, b) => (b < a ? b : a)),
    ),
  ],
  ['maxf', variadic(['any'], 'any', (first, ...others) => others.map(toFloat).reduce(larger, toFloat(first)))],
  ['minf', variadic(['any'], 'any', (first, ...others) => others.map(toFloat).reduce(smaller, toFloat(first)))],
  ['add1f', fn(['any'], (value) => numberOf(addDecimals(decimalOf(toFloat(value)), decimalOf(1))))],
  ['addf', variadic([], 'any', (...values) => foldDecimals(addDecimals)(0, ...values))],
  ['subf', variadic(['any'], 'any', foldDecimals(subtractDecimals))],
  ['divf', variadic(['any'], 'any', foldDecimals(divideDecimals))],
  ['mulf', variadic(['any'], 'any', foldDecimals(multiplyDecimals))],
  ['ceil', fn(['any'], (value) => Math.ceil(toFloat(value)))],
  ['floor', fn(['any'], (value) => Math.floor(toFloat(value)))],
  ['round', variadic(['any', 'int'], 'float64', (value, places, on) => round(value, places, on))],
  [
    'randInt',
    inRun(['int', 'int'], (run, min, limit) => {
      if (limit <= min) throw new Error('invalid argument to Intn');
      return min + BigInt(Math.floor(environmentOf(run).random.next() * Number(limit - min)));
    }),
  ],
]);

function octal(text: string): bigint {
  const value = /^[+-]?[0-7]+$/.test(text) ? (parseInteger(text.replace(/^([+-]?)/, '$10')) ?? 0n) : 0n;
  return BigInt.asIntN(64, value) === value ? value : 0n;
}
