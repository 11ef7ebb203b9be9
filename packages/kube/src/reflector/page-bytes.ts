import { maxAnswerBytes } from '../transport.ts';

/** The body of one page as it arrives, as long as it has a size a page can have. */
export class PageBytes {
  #chunks: Buffer[] = [];
  #size = 0;

  /** Whether it still fits. */
  add(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size > maxAnswerBytes) return false;
    this.#chunks.push(Buffer.from(chunk));
    return true;
  }

  take(): Buffer {
    return Buffer.concat(this.#chunks.splice(0));
  }
}
