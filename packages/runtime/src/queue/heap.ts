/** What a {@link Heap} holds: it remembers its own place, so that it can be taken out from the middle. */
export interface HeapNode {
  /** Index in the heap, -1 when in none. Owned by the heap. */
  heapIndex: number;
}

/** A binary heap whose nodes can be removed wherever they are. Smallest first by `before`. */
export class Heap<T extends HeapNode> {
  readonly #nodes: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#nodes.length;
  }

  peek(): T | undefined {
    return this.#nodes[0];
  }

  push(node: T): void {
    node.heapIndex = this.#nodes.length;
    this.#nodes.push(node);
    this.#up(node.heapIndex);
  }

  pop(): T | undefined {
    const first = this.#nodes[0];
    if (first) this.remove(first);
    return first;
  }

  remove(node: T): void {
    const index = node.heapIndex;
    if (this.#nodes[index] !== node) return;
    node.heapIndex = -1;
    const last = this.#nodes.pop()!;
    if (last === node) return;
    this.#place(last, index);
    this.#up(index);
    this.#down(last.heapIndex);
  }

  clear(): void {
    for (const node of this.#nodes) node.heapIndex = -1;
    this.#nodes.length = 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    yield* this.#nodes;
  }

  #place(node: T, index: number): void {
    this.#nodes[index] = node;
    node.heapIndex = index;
  }

  #up(start: number): void {
    let index = start;
    const node = this.#nodes[index]!;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#nodes[parentIndex]!;
      if (!this.#before(node, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(node, index);
  }

  #down(start: number): void {
    let index = start;
    const node = this.#nodes[index]!;
    for (;;) {
      let childIndex = 2 * index + 1;
      if (childIndex >= this.#nodes.length) break;
      const right = childIndex + 1;
      if (right < this.#nodes.length && this.#before(this.#nodes[right]!, this.#nodes[childIndex]!)) childIndex = right;
      const child = this.#nodes[childIndex]!;
      if (!this.#before(child, node)) break;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(node, index);
  }
}
