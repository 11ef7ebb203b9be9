import { integerOf, type BigInteger } from '../big-integer.ts';

/** Bytes that are not what a Kubernetes client sends. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}

const utf8 = new TextDecoder();

/** Reads the protobuf wire format. Never reads past the end of its bytes: throws {@link ProtobufError} instead. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The fields in order. The caller must read or skip the value of each before it asks for the next. */
  *fields(): Generator<{ field: number; wireType: number }> {
    while (this.#at < this.#bytes.length) {
      const tag = this.#unsigned();
      const field = Number(tag >> 3n);
      if (field < 1 || field > 0x1fff_ffff) throw new ProtobufError(`illegal tag ${field}`);
      yield { field, wireType: Number(tag & 7n) };
    }
  }

  #unsigned(): bigint {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new ProtobufError('unexpected EOF');
      this.#at += 1;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    throw new ProtobufError('integer overflow');
  }

  /** A signed varint of any size. */
  integer(wireType: number): number | BigInteger {
    this.#expect(wireType, 0);
    return integerOf(BigInt.asIntN(64, this.#unsigned()));
  }

  /** A signed varint where large ones make no sense. */
  varint(wireType: number): number {
    this.#expect(wireType, 0);
    return Number(BigInt.asIntN(64, this.#unsigned()));
  }

  /** Repeated integers in one piece. */
  packedVarints(): (number | BigInteger)[] {
    const inner = new WireReader(this.bytes(2));
    const values: (number | BigInteger)[] = [];
    while (inner.#at < inner.#bytes.length) values.push(integerOf(BigInt.asIntN(64, inner.#unsigned())));
    return values;
  }

  bytes(wireType: number): Uint8Array {
    this.#expect(wireType, 2);
    const length = this.#unsigned();
    return this.#take(length > BigInt(this.#bytes.length) ? Infinity : Number(length));
  }

  /** An embedded message. */
  message(wireType: number): WireReader {
    return new WireReader(this.bytes(wireType));
  }

  text(wireType: number): string {
    return utf8.decode(this.bytes(wireType));
  }

  double(wireType: number): number {
    this.#expect(wireType, 1);
    const bytes = this.#take(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
  }

  float(wireType: number): number {
    this.#expect(wireType, 5);
    const bytes = this.#take(4);
    return new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true);
  }

  skip(wireType: number): void {
    if (wireType === 0) this.#unsigned();
    else if (wireType === 1) this.#take(8);
    else if (wireType === 2) this.bytes(2);
    else if (wireType === 5) this.#take(4);
    else throw new ProtobufError(`illegal wireType ${wireType}`);
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new ProtobufError('unexpected EOF');
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  #expect(wireType: number, expected: number): void {
    if (wireType !== expected) throw new ProtobufError(`wrong wireType = ${wireType}`);
  }
}
