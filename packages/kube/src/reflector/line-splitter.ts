const newline = 0x0a;

/**
 * Cuts a stream of chunks into lines without copying those that lie within one chunk. Works on bytes, so a character that
 * is split between two chunks comes out whole. A line is valid only during the call that receives it.
 */
export class LineSplitter {
  readonly #onLine: (bytes: Buffer, start: number, end: number) => void;
  readonly #maxLineBytes: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

  /** `maxLineBytes`: longer lines are an error, so that a server gone mad cannot fill the memory. Default 64 MiB. */
  constructor(onLine: (bytes: Buffer, start: number, end: number) => void, maxLineBytes = 64 * 1024 * 1024) {
    this.#onLine = onLine;
    this.#maxLineBytes = maxLineBytes;
  }

  /** Bytes of a line that has begun and not ended. */
  get pendingBytes(): number {
    return this.#restBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    let end = chunk.indexOf(newline);
    if (end >= 0 && this.#restBytes > 0) {
      this.#rest.push(chunk.subarray(0, end));
      const line = Buffer.concat(this.#rest);
      this.#rest = [];
      this.#restBytes = 0;
      this.#onLine(line, 0, line.length);
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    while (end >= 0) {
      if (end > start) this.#onLine(chunk, start, end);
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    if (start === chunk.length) return;
    // The transport may reuse the memory of a chunk, and a small rest must not keep a large chunk alive.
    this.#rest.push(Buffer.from(chunk.subarray(start)));
    this.#restBytes += chunk.length - start;
    if (this.#restBytes > this.#maxLineBytes) {
      throw new RangeError(`a line is longer than ${this.#maxLineBytes} bytes`);
    }
  }

  /** The stream has ended. What is left over is a line only if it is whole; a torn one will be sent again. */
  end(): void {
    if (this.#restBytes === 0) return;
    const line = Buffer.concat(this.#rest);
    this.#rest = [];
    this.#restBytes = 0;
    if (isJson(line)) this.#onLine(line, 0, line.length);
  }
}

function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
