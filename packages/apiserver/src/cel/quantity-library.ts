import type { Environment } from '@marcbachmann/cel-js';
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../quantity.ts';

class QuantityValue {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const unit = 1_000_000_000n;

function parse(text: string): QuantityValue {
  return new QuantityValue(parseQuantity(text));
}

function shifted(value: QuantityValue, nanos: bigint): QuantityValue {
  return new QuantityValue({ nanos: value.quantity.nanos + nanos, format: value.quantity.format });
}

/** Kubernetes' functions for quantities such as `1.5Gi`. */
export function registerQuantities(environment: Environment): void {
  const define = (signature: string, handler: (...values: never[]) => unknown): void => {
    environment.registerFunction(signature, handler as (...values: unknown[]) => unknown);
  };
  const compare = (left: QuantityValue, right: QuantityValue): number =>
    left.quantity.nanos < right.quantity.nanos ? -1 : left.quantity.nanos > right.quantity.nanos ? 1 : 0;
  environment.registerType('Quantity', { ctor: QuantityValue, fields: {} });
  define('quantity(string): Quantity', parse);
  define('isQuantity(string): bool', (text: string) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  });
  define('Quantity.sign(): int', (value: QuantityValue) =>
    BigInt(compareQuantities(formatQuantity(value.quantity), '0')),
  );
  define('Quantity.isInteger(): bool', (value: QuantityValue) => value.quantity.nanos % unit === 0n);
  define('Quantity.asInteger(): int', (value: QuantityValue) => {
    if (value.quantity.nanos % unit !== 0n) throw new Error('cannot convert value to integer');
    return value.quantity.nanos / unit;
  });
  define('Quantity.asApproximateFloat(): double', (value: QuantityValue) => Number(value.quantity.nanos) / 1e9);
  define('Quantity.add(Quantity): Quantity', (left: QuantityValue, right: QuantityValue) =>
    shifted(left, right.quantity.nanos),
  );
  define('Quantity.add(int): Quantity', (left: QuantityValue, right: bigint) => shifted(left, right * unit));
  define('Quantity.sub(Quantity): Quantity', (left: QuantityValue, right: QuantityValue) =>
    shifted(left, -right.quantity.nanos),
  );
  define('Quantity.sub(int): Quantity', (left: QuantityValue, right: bigint) => shifted(left, -right * unit));
  define('Quantity.compareTo(Quantity): int', (left: QuantityValue, right: QuantityValue) =>
    BigInt(compare(left, right)),
  );
  define(
    'Quantity.isGreaterThan(Quantity): bool',
    (left: QuantityValue, right: QuantityValue) => compare(left, right) > 0,
  );
  define(
    'Quantity.isLessThan(Quantity): bool',
    (left: QuantityValue, right: QuantityValue) => compare(left, right) < 0,
  );
  environment.registerOperator(
    'Quantity == Quantity',
    (left: QuantityValue, right: QuantityValue) => compare(left, right) === 0,
  );
}
