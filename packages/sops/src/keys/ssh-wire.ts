/** Reads what SSH writes for programs: parts with their lengths before them. Whatever does not fit throws a `RangeError`. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint32(): number {
    return this.#take(4).readUInt32BE();
  }

  part(): Buffer {
    return this.#take(this.uint32());
  }

  text(): string {
    return this.part().toString('latin1');
  }

  /** A whole number above zero, without zeros before it that say nothing. */
  positive(): Buffer {
    const bytes = this.part();
    const [first = 0, second = 0] = bytes;
    const isNegative = first >= 0x80;
    if (bytes.length === 0 || isNegative || (first === 0 && second < 0x80)) throw new RangeError('not above zero');
    return first === 0 ? bytes.subarray(1) : bytes;
  }

  rest(): Buffer {
    return this.#take(this.#bytes.length - this.#at);
  }

  /** Nothing may follow. */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new RangeError('more than was expected');
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('cut');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

/** Parts with their lengths before them. */
export function sshParts(...parts: readonly (Uint8Array | string)[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** A whole number above zero as a part: what begins with a bit that would make it negative gets a zero before it. */
export function sshNumber(bytes: Uint8Array): Uint8Array {
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
}
