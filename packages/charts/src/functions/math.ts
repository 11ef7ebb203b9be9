import { show } from '../go/format.ts';
import { int64, typed, type Value } from '../go/values.ts';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { parseInteger } from '../template/numbers.ts';
import { fn, inRun, variadic } from '../template/signature.ts';
import { addDecimals, divideDecimals, multiplyDecimals, type DecimalOperation } from './decimal.ts';
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
  return (first: Value, ...others: Value[]) =>
    others.reduce<number>((total, item) => operation(total, toFloat(item)), toFloat(first));
}

function round(value: Value, places: bigint, on = 0.5): number {
  const power = 10 ** Number(places);
  const digit = power * toFloat(value);
  const fraction = digit - Math.trunc(digit);
  return (fraction >= on ? Math.ceil(digit) : Math.floor(digit)) / power;
}

function subtractDecimals(a: number, b: number): number {
  return addDecimals(a, -b);
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
  ['maxf', variadic(['any'], 'any', (first, ...others) => Math.max(toFloat(first), ...others.map(toFloat)))],
  ['minf', variadic(['any'], 'any', (first, ...others) => Math.min(toFloat(first), ...others.map(toFloat)))],
  ['add1f', fn(['any'], (value) => addDecimals(toFloat(value), 1))],
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
  return /^[+-]?[0-7]+$/.test(text) ? (parseInteger(text.replace(/^([+-]?)/, '$10')) ?? 0n) : 0n;
}
