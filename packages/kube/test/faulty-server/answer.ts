import type { Clock, Timer } from '../../src/clock.ts';
import type { Fault } from './fault.ts';

/** The way back to a client: in memory or over TCP. */
export interface Wire {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  data(chunk: Buffer): void;
  end(): void;
  /** As when the other side crashes. */
  reset(): void;
}

/** Sends an answer the way a fault wants it sent. */
export class Answer {
  readonly #wire: Wire;
  readonly #clock: Clock;
  readonly #fault: Fault | undefined;
  #lines = 0;
  #over = false;
  #silent = false;
  #queue: Buffer[] = [];
  #timer: Timer | undefined;
  #endWhenSent = false;
  onClosed: () => void = () => {};

  constructor(wire: Wire, clock: Clock, fault: Fault | undefined) {
    this.#wire = wire;
    this.#clock = clock;
    this.#fault = fault;
  }

  get over(): boolean {
    return this.#over;
  }

  head(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (!this.#over) this.#wire.head(status, { 'content-type': 'application/json', ...headers });
  }

  /** One line of a watch. */
  line(value: unknown): void {
    if (this.#over || this.#silent) return;
    const fault = this.#fault;
    if (fault && 'after' in fault && fault.after === this.#lines) {
      this.#lines += 1;
      switch (fault.type) {
        case 'reset':
          this.#close(() => this.#wire.reset());
          return;
        case 'half-open':
          this.#silent = true;
          return;
        case 'end':
          this.#close(() => this.#wire.end());
          return;
        case 'error-event': {
          const { code, reason, message, retryAfter } = fault;
          const details = retryAfter === undefined ? undefined : { retryAfterSeconds: retryAfter };
          const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message, details };
          this.#write(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`));
          this.end();
          return;
        }
        case 'garbage':
          this.#write(Buffer.from(`${fault.line}\n`));
          break;
      }
    }
    this.#lines += 1;
    this.#write(Buffer.from(`${JSON.stringify(value)}\n`));
  }

  body(value: unknown): void {
    const bytes = Buffer.from(JSON.stringify(value));
    this.#write(this.#fault?.type === 'cut-short' ? bytes.subarray(0, bytes.length >> 1) : bytes);
    this.end();
  }

  end(): void {
    if (this.#over || this.#silent) return;
    if (this.#queue.length > 0) this.#endWhenSent = true;
    else this.#close(() => this.#wire.end());
  }

  reset(): void {
    this.#close(() => this.#wire.reset());
  }

  /** The client went away. */
  closed(): void {
    this.#close(() => {});
  }

  #close(how: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer?.cancel();
    this.onClosed();
    how();
  }

  #write(bytes: Buffer): void {
    const fault = this.#fault;
    if (fault?.type === 'pieces') {
      for (let at = 0; at < bytes.length && !this.#over; at += fault.bytes) {
        this.#wire.data(bytes.subarray(at, at + fault.bytes));
      }
    } else if (fault?.type === 'drip') {
      for (let at = 0; at < bytes.length; at += fault.bytes) this.#queue.push(bytes.subarray(at, at + fault.bytes));
      this.#drip(fault.everyMs);
    } else this.#wire.data(bytes);
  }

  #drip(everyMs: number): void {
    this.#timer ??= this.#clock.schedule(everyMs, () => {
      this.#timer = undefined;
      const piece = this.#queue.shift();
      if (piece && !this.#over) this.#wire.data(piece);
      if (this.#queue.length > 0) this.#drip(everyMs);
      else if (this.#endWhenSent) this.end();
    });
  }
}
