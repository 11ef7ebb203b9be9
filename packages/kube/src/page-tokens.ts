import { KubeError } from './kube-error.ts';

/** Pages without any object, one after the other, before a list is given up: real servers fill a page or end the list. */
const maxEmptyPages = 100;

/** Watches over the pages of one list, so that a server that sends the caller round in a circle is noticed. */
export class PageTokens {
  readonly #operation: string;
  readonly #seen = new Set<string>();
  #empty = 0;

  constructor(operation: string) {
    this.#operation = operation;
  }

  /** A page with so many objects said that the list goes on at `token`. Throws when it leads nowhere. */
  next(token: string, objects: number): void {
    if (this.#seen.has(token)) throw this.#circle('the server gave the same continue token twice');
    this.#seen.add(token);
    this.#empty = objects === 0 ? this.#empty + 1 : 0;
    if (this.#empty >= maxEmptyPages) throw this.#circle(`the server gave ${maxEmptyPages} pages without an object`);
  }

  #circle(problem: string): KubeError {
    return new KubeError(`${this.#operation} does not end: ${problem}`, {
      reason: 'BadAnswer',
      operation: this.#operation,
    });
  }
}
